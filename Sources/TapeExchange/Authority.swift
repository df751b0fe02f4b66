/// A host with an optional port, as in a Host field or behind `http://`.
///
/// The host is lower-case and without brackets. Userinfo, zones and percent-encoding are refused.
public struct Authority: Sendable, Hashable {
    public var host: String
    /// Nil where the port was left out or empty.
    public var port: Int?

    /// Reads `host`, `host:port`, `[address]` or `[address]:port`; nil for anything else.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        if rest.first == UInt8(ascii: "[") {
            guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let literal = String(decoding: rest[(rest.startIndex + 1)..<close], as: UTF8.self)
            guard literal.utf8.contains(UInt8(ascii: ":")), IPAddress(literal) != nil else { return nil }
            self.host = literal.lowercased()
            rest = rest[(close + 1)...]
        } else {
            let name = rest.prefix(while: Self.isNameByte)
            // RFC 1035, 2.3.4: a name has at most 255 octets.
            guard !name.isEmpty, name.count <= 255 else { return nil }
            self.host = String(decoding: name.map(Octets.lower), as: UTF8.self)
            rest = rest[name.endIndex...]
        }
        guard let colon = rest.first else { return }
        guard colon == UInt8(ascii: ":") else { return nil }
        let digits = rest.dropFirst()
        guard !digits.isEmpty else { return }
        guard digits.count <= 5, digits.allSatisfy(Octets.isDigit) else { return nil }
        let port = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        guard (1...65_535).contains(port) else { return nil }
        self.port = port
    }

    /// `unreserved` and `sub-delims` of RFC 3986, 3.2.2.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="): true
        case UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        default: Octets.isToken(byte)
        }
    }
}
