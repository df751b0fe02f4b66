/// What the Host field of a request must be (RFC 9112, 3.2).
public enum HostRule {
    /// The authority the Host field names; nil where an HTTP/1.0 request has none, or an empty one does not matter.
    ///
    /// A target in absolute or authority form decides alone where the request goes, whatever Host says; its syntax counts anyway.
    public static func check(_ head: RequestHead, target: RequestTarget) throws(MessageError) -> Authority? {
        var found: Int?
        for index in 0..<head.fields.count where head.fields.isNamed("host", at: index) {
            guard found == nil else { throw self.refused("has several Host fields; send one") }
            found = index
        }
        guard let found else {
            guard head.version < .http11 else { throw self.refused("has no Host field; send one") }
            return nil
        }
        let value = head.fields.valueBytes(at: found)
        if value.isEmpty {
            switch target {
            case .absolute, .authority: return nil
            case .origin, .asterisk: throw self.refused("has an empty Host field; name the host")
            }
        }
        guard let authority = Authority(value) else {
            // A value with userinfo may hold a password.
            let shown = value.contains(UInt8(ascii: "@")) ? "" : " \(Octets.quoted(value))"
            throw self.refused("has a Host field\(shown) that is no host name or [IPv6 address] with perhaps a port; correct it")
        }
        return authority
    }

    private static func refused(_ reason: String) -> MessageError {
        MessageError(.host, status: 400, "request \(reason)")
    }
}
