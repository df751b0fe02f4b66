internal import TapeBytes

/// Splits `a=1&b=2` into names and values, as a URL's query or a form has them.
enum FormPairs {
    struct Pair: Hashable {
        var name: String
        var value: String
    }

    /// The pairs between a URL's question mark and its fragment.
    static func query(of url: String) -> [Pair] {
        let bytes = Array(url.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return [] }
        return self.parse(bytes[(mark + 1)..<end])
    }

    static func parse(_ text: ArraySlice<UInt8>) -> [Pair] {
        text.split(separator: UInt8(ascii: "&")).map { part in
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return Pair(name: self.decode(part), value: "") }
            return Pair(name: self.decode(part[..<equals]), value: self.decode(part[(equals + 1)...]))
        }
    }

    /// Takes `%20` and `+` off; text that would not be UTF-8 then stays as it is.
    private static func decode(_ text: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var offset = text.startIndex
        while offset < text.endIndex {
            if text[offset] == UInt8(ascii: "%"), text.endIndex - offset > 2, let upper = Hex.value(text[offset + 1]),
                let lower = Hex.value(text[offset + 2])
            {
                decoded.append(upper << 4 | lower)
                offset += 3
            } else {
                decoded.append(text[offset] == UInt8(ascii: "+") ? 32 : text[offset])
                offset += 1
            }
        }
        return String(decoding: UTF8Validator.isValid(decoded) ? decoded : Array(text), as: UTF8.self)
    }
}
