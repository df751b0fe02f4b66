internal import CassetteModel

/// Whether a connection may carry another message after this one (RFC 9112, 9.3).
public enum Persistence {
    /// What the client takes us for.
    public enum Role: Sendable, Hashable {
        /// It sent its request to a proxy.
        case proxy
        /// It sent its request to the origin, inside a tunnel that we ended.
        case origin
    }

    /// Whether the client's connection may stay open after the answer to this request.
    public static func staysOpen(after head: RequestHead, role: Role) -> Bool {
        // RFC 9112, 9.3: a proxy keeps no connection with an HTTP/1.0 client, whose keep-alive may be another proxy's, passed on
        // without understanding.
        guard head.version >= .http11 || role == .origin else { return false }
        return self.wishesToStay(head.version, head.fields)
    }

    /// Whether the origin's connection may be used again after this final response.
    public static func staysOpen(after head: ResponseHead, framing: BodyFraming) -> Bool {
        guard framing != .untilClose, head.status != 101 else { return false }
        return self.wishesToStay(head.version, head.fields)
    }

    /// The sender's own wish: `close` wins, HTTP/1.1 stays, HTTP/1.0 has to ask.
    private static func wishesToStay(_ version: HTTPVersion, _ fields: HeaderFields) -> Bool {
        let options = ConnectionOptions(fields)
        return !options.close && (version >= .http11 || options.keepAlive)
    }
}
