/// The target of a request, in one of the four forms of RFC 9112, 3.2.
public enum RequestTarget: Sendable, Hashable {
    /// As sent to proxies. `originForm` is what to send to the origin (`*` for OPTIONS without a path).
    case absolute(Origin, originForm: String)
    case origin(String)
    /// As sent with CONNECT.
    case authority(host: String, port: Int)
    case asterisk

    public init(_ head: RequestHead) throws(MessageError) {
        try self.init(head.target, method: head.method)
    }

    public init(_ target: String, method: String) throws(MessageError) {
        let bytes = Array(target.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy(ASCII.isVisible) else {
            throw Self.refused(bytes, "must be visible ASCII; percent-encode the rest")
        }
        // RFC 9110, 4.2.5 and 7.1: a fragment is for the client only.
        guard !bytes.contains(UInt8(ascii: "#")) else { throw Self.refused(bytes, "has a fragment; leave it out") }
        if method == "CONNECT" {
            self = try Self.authority(bytes)
        } else if bytes.first == UInt8(ascii: "/") {
            self = .origin(target)
        } else if bytes == [UInt8(ascii: "*")] {
            guard method == "OPTIONS" else { throw Self.refused(bytes, "is for OPTIONS only; send a path") }
            self = .asterisk
        } else {
            self = try Self.absolute(bytes, method: method)
        }
    }

    private static func authority(_ bytes: [UInt8]) throws(MessageError) -> RequestTarget {
        guard !bytes.contains(UInt8(ascii: "@")) else { throw self.refusedUserinfo(bytes) }
        // RFC 9112, 3.2.3: a CONNECT without a port has no default.
        guard let authority = Authority(bytes[...]), let port = authority.port else {
            throw self.refused(bytes, "is not \"host:port\", which CONNECT needs")
        }
        return .authority(host: authority.host, port: port)
    }

    private static func absolute(_ bytes: [UInt8], method: String) throws(MessageError) -> RequestTarget {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].starts(with: [47, 47]) else {
            throw self.refused(bytes, "is neither a path nor a URL; send \"/path\" or \"http://host/path\"")
        }
        guard let scheme = Origin.Scheme(name: bytes[..<colon]) else {
            throw self.refused(bytes, "has a scheme other than http, https, ws and wss; use one of them")
        }
        let start = colon + 3
        let end = bytes[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? bytes.endIndex
        // RFC 9110, 4.2.4: userinfo disguises the host to human readers.
        guard !bytes[start..<end].contains(UInt8(ascii: "@")) else { throw self.refusedUserinfo(bytes) }
        guard let authority = Authority(bytes[start..<end]) else {
            throw self.refused(bytes, "needs a host name or [IPv6 address], and an optional port from 1 to 65535")
        }
        let rest = String(decoding: bytes[end...], as: UTF8.self)
        let originForm: String
        if rest.isEmpty {
            // RFC 9112, 3.2.4: OPTIONS without a path applies to the server as a whole.
            originForm = method == "OPTIONS" ? "*" : "/"
        } else {
            originForm = bytes[end] == UInt8(ascii: "?") ? "/" + rest : rest
        }
        return .absolute(Origin(scheme: scheme, authority: authority), originForm: originForm)
    }

    private static func refused(_ bytes: [UInt8], _ reason: String) -> MessageError {
        MessageError(.target, status: 400, "request target \(ASCII.quoted(bytes)) \(reason)")
    }

    /// Repeats no part of the target, because it may contain a password.
    private static func refusedUserinfo(_ bytes: [UInt8]) -> MessageError {
        MessageError(.target, status: 400, "request target has userinfo before its host; send an Authorization field instead")
    }
}

/// Checks the Host field of a request (RFC 9112, 3.2).
public enum HostRule {
    /// The authority in the Host field; nil if an HTTP/1.0 request has none, or if an empty one does not matter.
    ///
    /// A target in absolute or authority form alone determines where the request goes, whatever Host says. The syntax of Host is checked
    /// anyway.
    public static func check(_ head: RequestHead, target: RequestTarget) throws(MessageError) -> Authority? {
        // RFC 9113, 8.3.1: `:authority` replaces Host, and both name the same authority.
        if let authority = head.authority {
            guard let authority = Authority(Array(authority.utf8)[...]) else {
                throw self.refused("has an :authority that is not a host name or [IPv6 address] with an optional port; correct it")
            }
            return authority
        }
        guard let found = head.fields.firstIndex(of: "host") else {
            if head.version < .http11 { return nil }
            // Some clients open tunnels without it, and only the target matters.
            if case .authority = target { return nil }
            throw self.refused("has no Host field; send one")
        }
        guard head.fields.firstIndex(of: "host", from: found + 1) == nil else { throw self.refused("has several Host fields; send one") }
        let value = head.fields.valueBytes(at: found)
        if value.isEmpty {
            switch target {
            case .absolute, .authority: return nil
            case .origin, .asterisk: throw self.refused("has an empty Host field; name the host")
            }
        }
        guard let authority = Authority(value) else {
            // A value with userinfo may contain a password.
            let shown = value.contains(UInt8(ascii: "@")) ? "" : " \(ASCII.quoted(value))"
            throw self.refused("has a Host field\(shown) that is not a host name or [IPv6 address] with an optional port; correct it")
        }
        return authority
    }

    private static func refused(_ reason: String) -> MessageError {
        MessageError(.host, status: 400, "request \(reason)")
    }
}
