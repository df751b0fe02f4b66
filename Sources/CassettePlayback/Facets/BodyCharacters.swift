internal import CassetteModel
internal import TapeBytes

/// Decodes the characters of JSON and XML to UTF-8 without a byte order mark, using the declared charset of the body.
///
/// A known declared charset is trusted, as the same bytes mean different characters in other charsets.
struct BodyCharacters {
    private let label: String

    /// `field` is the value of Content-Type.
    init(field: ArraySlice<UInt8>?) {
        let parameter = field.flatMap { $0.contains(UInt8(ascii: ";")) ? MIMEParameters($0)["charset"] : nil }
        self.label = parameter.map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() } ?? ""
    }

    /// Nil if the bytes are not valid in their charset. If none is declared, a NUL in the first character indicates UTF-16 (RFC 4627, 3).
    func json(_ bytes: [UInt8]) -> [UInt8]? { self.decoded(bytes, declared: "", unknown: Self.utf8) }

    /// Nil if the bytes are not valid in their charset. It comes from the byte order mark, the field or the declaration, in this order (RFC
    /// 7303, 3).
    func xml(_ bytes: [UInt8]) -> [UInt8]? {
        self.decoded(bytes, declared: self.label.isEmpty ? Self.declaredEncoding(bytes) : "") { $0.allSatisfy { $0 < 0x80 } ? $0 : nil }
    }

    /// - Parameter unknown: how to treat bytes in an unknown charset. JSON gives a charset parameter no meaning (RFC 8259, 11).
    private func decoded(_ bytes: [UInt8], declared: String, unknown: ([UInt8]) -> [UInt8]?) -> [UInt8]? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Self.utf8(Array(bytes.dropFirst(3))) }
        var label = self.label.isEmpty ? declared : self.label
        if bytes.count >= 2, bytes[0] == 0 || bytes[1] == 0, bytes[0] != bytes[1] { label = bytes[0] == 0 ? "utf-16be" : "utf-16le" }
        if bytes.count % 4 == 0, let order = Self.order32(bytes) { label = order }
        if let text = Charset.decodeOther(bytes, label: label) { return Self.withoutMark(text) }
        let charsets = bytes.withUnsafeBytes { Charset.candidates(label: label, beginning: $0) }
        guard !charsets.isEmpty else {
            return ["", "utf-8", "utf8"].contains(label) ? Self.utf8(bytes) : unknown(bytes)
        }
        // Most texts are ASCII, which all other charsets contain.
        if Self.isPlain(bytes, charsets) { return bytes }
        guard let text = charsets.lazy.compactMap({ $0.decode(bytes) }).first else { return nil }
        return Self.withoutMark(text)
    }

    private static func withoutMark(_ text: [UInt8]) -> [UInt8] {
        text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
    }

    /// UTF-32 by the first character, which is a byte order mark or in ASCII (RFC 4627, 3); nil if it is not UTF-32.
    private static func order32(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 4 else { return nil }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0xFF, 0xFE, 0, 0), (1..., 0, 0, 0): return "utf-32le"
        case (0, 0, 0xFE, 0xFF), (0, 0, 0, 1...): return "utf-32be"
        default: return nil
        }
    }

    /// Shift_JIS replaces the backslash and the tilde by other characters.
    private static func isPlain(_ bytes: [UInt8], _ charsets: [Charset]) -> Bool {
        let others: [Charset] = [.utf16LittleEndian, .utf16BigEndian, .shiftJIS, .windows31J]
        return !charsets.contains(where: others.contains) && bytes.allSatisfy { $0 < 0x80 }
    }

    private static func utf8(_ bytes: [UInt8]) -> [UInt8]? { bytes.withUnsafeBytes { UTF8Validator.isValid($0) } ? bytes : nil }

    /// The encoding of an XML declaration in ASCII, in lower case; empty if there is none (XML 1.0, 4.3.3).
    private static func declaredEncoding(_ bytes: [UInt8]) -> String {
        guard bytes.starts(with: "<?xml".utf8), let end = bytes.prefix(1024).firstIndex(of: UInt8(ascii: ">")) else { return "" }
        let declaration = String(decoding: bytes[..<end], as: UTF8.self)
        guard let name = declaration.firstRange(of: "encoding") else { return "" }
        let rest = declaration[name.upperBound...].drop { $0.isWhitespace }
        guard rest.first == "=" else { return "" }
        let value = rest.dropFirst().drop { $0.isWhitespace }
        guard let quote = value.first, quote == "\"" || quote == "'" else { return "" }
        return value.dropFirst().prefix { $0 != quote }.lowercased()
    }
}
