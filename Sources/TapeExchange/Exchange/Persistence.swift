internal import CassetteModel

/// Whether a connection may carry another message after this one (RFC 9112, 9.3).
public enum Persistence {
    /// What the client thinks the proxy is.
    public enum Role: Sendable, Hashable {
        /// The client sent its request to a proxy.
        case proxy
        /// The client sent its request to the origin, inside a tunnel that the proxy terminates.
        case origin
    }

    /// Whether the client's connection may stay open after the answer to this request.
    public static func staysOpen(after head: RequestHead, role: Role) -> Bool {
        // RFC 9112, 9.3: a proxy does not keep a connection with an HTTP/1.0 client open, because another proxy may have forwarded that
        // client's keep-alive without understanding it.
        guard head.version >= .http11 || role == .origin else { return false }
        return self.asksToStayOpen(head.version, head.fields)
    }

    /// Whether the origin's connection may be used again after this final response.
    public static func staysOpen(after head: ResponseHead, framing: BodyFraming) -> Bool {
        guard framing != .untilClose, head.status != 101 else { return false }
        return self.asksToStayOpen(head.version, head.fields)
    }

    /// What the sender asks for: `close` wins, HTTP/1.1 stays open, HTTP/1.0 has to ask.
    private static func asksToStayOpen(_ version: HTTPVersion, _ fields: HeaderFields) -> Bool {
        let options = ConnectionOptions(fields)
        return !options.close && (version >= .http11 || options.keepAlive)
    }
}

/// The options of a message's Connection fields (RFC 9110, 7.6.1).
struct ConnectionOptions {
    private(set) var close = false
    private(set) var keepAlive = false
    private(set) var upgrade = false
    /// Lower-case names of other fields that are for this connection only.
    private var nominated: Set<[UInt8]> = []

    init(_ fields: HeaderFields) {
        var next = 0
        while let index = fields.firstIndex(of: "connection", from: next) {
            next = index + 1
            let value = fields.valueBytes(at: index)
            // Nearly every Connection field consists of just this.
            if FieldList.equals(value, "keep-alive") {
                self.keepAlive = true
                continue
            }
            for option in FieldList(value) {
                if FieldList.equals(option, "close") {
                    self.close = true
                } else if FieldList.equals(option, "keep-alive") {
                    self.keepAlive = true
                } else if FieldList.equals(option, "upgrade") {
                    self.upgrade = true
                } else if FieldKind.of(option) == .endToEnd {
                    // Any other kind has its own rule. In particular, no option may remove framing or routing: the next hop would read
                    // another message (RFC 9110, 7.6.1: no option for a field meant for all recipients).
                    self.nominated.insert(option.map(ASCII.lower))
                }
            }
        }
    }

    func nominates(_ name: @autoclosure () -> ArraySlice<UInt8>) -> Bool {
        !self.nominated.isEmpty && self.nominated.contains(name().map(ASCII.lower))
    }
}

/// How a forwarder treats a field (RFC 9110, 7.6.1).
enum FieldKind {
    case connection, te, upgrade, host, contentLength, transferEncoding, trailer, contentEncoding
    /// For this connection only: never forwarded.
    case hopByHop
    case endToEnd

    static func of(_ name: some Collection<UInt8>) -> FieldKind {
        switch name.count {
        case 2: FieldList.equals(name, "te") ? .te : .endToEnd
        case 4: FieldList.equals(name, "host") ? .host : .endToEnd
        case 7:
            FieldList.equals(name, "upgrade") ? .upgrade : FieldList.equals(name, "trailer") ? .trailer : .endToEnd
        case 10:
            FieldList.equals(name, "connection") ? .connection : FieldList.equals(name, "keep-alive") ? .hopByHop : .endToEnd
        case 14: FieldList.equals(name, "content-length") ? .contentLength : .endToEnd
        case 16:
            FieldList.equals(name, "proxy-connection")
                ? .hopByHop : FieldList.equals(name, "content-encoding") ? .contentEncoding : .endToEnd
        case 17: FieldList.equals(name, "transfer-encoding") ? .transferEncoding : .endToEnd
        case 18: FieldList.equals(name, "proxy-authenticate") ? .hopByHop : .endToEnd
        case 19: FieldList.equals(name, "proxy-authorization") ? .hopByHop : .endToEnd
        case 25: FieldList.equals(name, "proxy-authentication-info") ? .hopByHop : .endToEnd
        default: .endToEnd
        }
    }
}
