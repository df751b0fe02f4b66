/// The header fields of `HTTPURLResponse` as a list again.
///
/// It joins fields of one name and knows no order. Set-Cookie is taken apart, since a joined one means something else (RFC 6265, 3); the
/// other fields mean the same joined (RFC 9110, 5.3). They come in the order of their names, so that two recordings are alike.
enum ReceivedHeaders {
    static func list(_ fields: [AnyHashable: Any]) -> HTTPHeaders {
        var list = HTTPHeaders()
        let pairs = fields.compactMap { name, value in (name as? String).map { (name: $0, value: "\(value)") } }
        for (name, value) in pairs.sorted(by: { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }) {
            guard name.lowercased() == "set-cookie" else {
                list.add(name: name, value: value)
                continue
            }
            for cookie in self.cookies(value) { list.add(name: name, value: cookie) }
        }
        return list
    }

    /// Apart at each comma that a name and `=` follow: the comma of a date has a day behind it.
    static func cookies(_ joined: String) -> [String] {
        var cookies: [String] = []
        var current: [UInt8] = []
        let octets = Array(joined.utf8)
        for (index, octet) in octets.enumerated() {
            guard octet == UInt8(ascii: ","), self.beginsCookie(octets[(index + 1)...]) else {
                current.append(octet)
                continue
            }
            cookies.append(self.trimmed(current))
            current = []
        }
        cookies.append(self.trimmed(current))
        return cookies.filter { !$0.isEmpty }
    }

    private static func beginsCookie(_ rest: ArraySlice<UInt8>) -> Bool {
        let name = rest.drop { $0 == 32 || $0 == 9 }.prefix {
            $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",")
        }
        guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: "="), !name.isEmpty else { return false }
        return !name.contains { $0 <= 32 || $0 == UInt8(ascii: "\"") }
    }

    private static func trimmed(_ octets: [UInt8]) -> String {
        String(decoding: octets.drop { $0 == 32 || $0 == 9 }.reversed().drop { $0 == 32 || $0 == 9 }.reversed(), as: UTF8.self)
    }
}
