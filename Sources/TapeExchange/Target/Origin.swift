/// The server that a request is for: scheme, host and port (RFC 9110, 4.3.1).
///
/// Equal origins may share connections. Independent of addresses.
public struct Origin: Sendable, Hashable {
    public enum Scheme: String, Sendable, Hashable {
        case http, https

        /// The scheme of a URL, in any case. `ws` and `wss` are requested over HTTP (RFC 6455, 3). nil for other schemes.
        init?(name: some Collection<UInt8>) {
            if FieldList.equals(name, "http") || FieldList.equals(name, "ws") {
                self = .http
            } else if FieldList.equals(name, "https") || FieldList.equals(name, "wss") {
                self = .https
            } else {
                return nil
            }
        }

        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    public var scheme: Scheme
    /// In lower case; an IPv6 address has no brackets.
    public var host: String
    public var port: Int

    public init(scheme: Scheme, host: String, port: Int? = nil) {
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port ?? scheme.defaultPort
    }

    public init(scheme: Scheme, authority: Authority) {
        self.scheme = scheme
        self.host = authority.host
        self.port = authority.port ?? scheme.defaultPort
    }

    /// The value of a Host field. The port is included only if it is not the scheme's default.
    public var authority: String {
        let host = self.host.utf8.contains(UInt8(ascii: ":")) ? "[\(self.host)]" : self.host
        return self.port == self.scheme.defaultPort ? host : "\(host):\(self.port)"
    }
}

/// A host with an optional port, as in a Host field or after `http://`.
///
/// The host is in lower case and without brackets. Userinfo, zones and percent-encoding are refused.
public struct Authority: Sendable, Hashable {
    public var host: String
    /// nil if the port is missing or empty.
    public var port: Int?

    /// Parses `host`, `host:port`, `[address]` or `[address]:port`; nil for anything else.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        if rest.first == UInt8(ascii: "[") {
            guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let literal = String(decoding: rest[(rest.startIndex + 1)..<close], as: UTF8.self)
            guard literal.utf8.contains(UInt8(ascii: ":")), IPAddress(literal) != nil else { return nil }
            self.host = literal.lowercased()
            rest = rest[(close + 1)...]
        } else {
            let length = rest.withUnsafeBufferPointer { $0.firstIndex { !Self.isNameByte($0) } ?? $0.count }
            // RFC 1035, 2.3.4: a name has at most 255 bytes.
            guard length > 0, length <= 255 else { return nil }
            self.host = rest.withUnsafeBufferPointer { name in
                String(unsafeUninitializedCapacity: length) { host in
                    for index in 0..<length { host.initializeElement(at: index, to: ASCII.lower(name[index])) }
                    return length
                }
            }
            rest = rest.dropFirst(length)
        }
        guard let colon = rest.first else { return }
        guard colon == UInt8(ascii: ":") else { return nil }
        let digits = rest.dropFirst()
        guard !digits.isEmpty else { return }
        guard digits.count <= 5, digits.allSatisfy(ASCII.isDigit) else { return nil }
        let port = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        guard (1...65_535).contains(port) else { return nil }
        self.port = port
    }

    /// `unreserved` and `sub-delims` of RFC 3986, 3.2.2.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="): true
        case UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        default: ASCII.isToken(byte)
        }
    }
}
