internal import NIOCore
internal import TapeExchange

/// A request head that was read and found in order, when it came, and what it is for.
///
/// A class, so that handing it on costs one reference.
final class IncomingRequest {
    let head: RequestHead
    let target: RequestTarget
    /// The absolute URL: as sent to a proxy, or put together from the tunnel's scheme, the Host field and the path.
    let url: String
    let framing: RequestFraming
    /// Whether the client's connection may serve another request.
    let persists: Bool
    /// The client waits for 100 (Continue) before it sends the body (RFC 9110, 10.1.1).
    let expectsContinue: Bool
    let start: NIODeadline
    let proxyAuthorization: String?

    /// - Parameter scope: the tunnel that the request came through.
    init(_ head: RequestHead, start: NIODeadline, scope: TunnelScope? = nil) throws(MessageError) {
        let target = try RequestTarget(head.target, method: head.method)
        let named = try HostRule.check(head, target: target)
        self.target = target
        self.url = scope.map { Self.url(head, target, named, in: $0) } ?? head.target
        self.framing = try BodyFraming.ofRequest(head)
        self.persists = Persistence.staysOpen(after: head, framing: self.framing, role: scope == nil ? .proxy : .origin)
        self.expectsContinue = head.version >= .http11 && head.fields.first("expect")?.lowercased() == "100-continue"
        self.proxyAuthorization = Self.authorization(head)
        var head = head
        // Meant for us and spent here (RFC 9110, 11.7.2): a password neither goes on nor onto the cassette.
        if self.proxyAuthorization != nil { head.fields = head.fields.removing("proxy-authorization") }
        self.head = head
        self.start = start
    }

    /// Several that differ are nobody's: which of them counts would be a guess.
    private static func authorization(_ head: RequestHead) -> String? {
        guard let first = head.fields.first("proxy-authorization") else { return nil }
        let fields = head.fields
        let differs = (0..<fields.count).contains {
            fields.isNamed("proxy-authorization", at: $0) && !fields.valueBytes(at: $0).elementsEqual(first.utf8)
        }
        return differs ? "" : first
    }

    private static func url(_ head: RequestHead, _ target: RequestTarget, _ named: Authority?, in scope: TunnelScope) -> String {
        let authority = named == nil ? scope.origin.authority : head.fields.first("host") ?? scope.origin.authority
        switch target {
        case .absolute: return head.target
        case .origin(let path): return "\(scope.origin.scheme.rawValue)://\(authority)\(path)"
        // RFC 9112, 3.2.4: OPTIONS * is for the server as a whole, whose URL has no path.
        case .asterisk: return "\(scope.origin.scheme.rawValue)://\(authority)"
        case .authority: return "https://\(head.target)/"
        }
    }

    /// Whether a body follows.
    var hasBody: Bool {
        switch self.framing.framing {
        case .none, .length(0): false
        case .length, .chunked, .untilClose: true
        }
    }

    /// Sent twice, it does what it does sent once (RFC 9110, 9.2.2).
    var isIdempotent: Bool {
        switch self.head.method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }

    /// What the answer's Connection field has to say.
    func connectionOption(keeps: Bool) -> ConnectionOption {
        guard keeps else { return .close }
        return self.head.version >= .http11 ? .none : .keepAlive
    }
}
