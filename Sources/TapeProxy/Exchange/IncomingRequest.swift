internal import CassetteModel
internal import LocalHTTP
internal import NIOCore
internal import TapeExchange

/// A valid request head with its arrival time and what follows from its fields.
///
/// A class, so that passing it on costs one reference.
final class IncomingRequest: Sendable {
    /// Without the fields that are meant for this proxy alone. If the URL came in the path, with the origin's names.
    let head: RequestHead
    /// The fields of `head` as the client named things. They differ from `head` only if the URL came in the path.
    let received: HeaderFields
    let target: RequestTarget
    /// The absolute URL: as sent to a proxy or in the path, otherwise composed of the tunnel's scheme, the Host field and the path.
    let url: String
    /// Maps between the client's and the origin's names if the URL came in the path; nil if the client knows that it uses a proxy.
    let reverse: ReverseMapping?
    /// The authority in the Host field.
    let host: Authority?
    let framing: BodyFraming
    /// Whether the client's connection may serve another request.
    let persists: Bool
    /// The client waits for 100 (Continue) before it sends the body (RFC 9110, 10.1.1).
    let expectsContinue: Bool
    let start: NIODeadline
    /// nil if the request is not a gRPC call.
    let call: GRPCCall?
    let proxyAuthorization: String?
    /// How many Wiretape proxies the request has already passed, in a chain of upstream proxies.
    let hops: Int
    /// How the client opened its tunnel.
    let opening: TunnelOpening

    /// - Parameters:
    ///   - scope: the tunnel that the request came through.
    ///   - address: the proxy's own address, HOST:PORT.
    ///   - endsWithHead: the HTTP/2 stream ends with the head.
    ///   - opening: how the tunnel was opened, if not by an HTTP CONNECT.
    init(
        _ head: RequestHead, start: NIODeadline, scope: TunnelScope? = nil, address: String = "", endsWithHead: Bool = false,
        opening: TunnelOpening = .connect
    ) throws(MessageError) {
        self.opening = opening
        let target = try RequestTarget(head.target, method: head.method)
        let named = try HostRule.check(head, target: target)
        let reverse = try scope == nil ? Self.reverse(target, method: head.method, address: address) : nil
        self.host = named
        self.target = reverse.map { .absolute($0.origin, originForm: $0.originForm) } ?? target
        let mapping = reverse.map { ReverseMapping(target: $0, authority: head.authority ?? head.fields.first("host") ?? address) }
        self.reverse = mapping
        self.url = reverse?.url ?? scope.map { Self.url(head, target, named, in: $0) } ?? head.target
        self.framing = endsWithHead || head.connectProtocol != nil ? .none : try BodyFraming.ofRequest(head)
        self.persists = Persistence.staysOpen(
            after: head, role: scope == nil && reverse == nil ? .proxy : .origin)
        self.expectsContinue = head.version >= .http11 && head.fields.first("expect")?.lowercased() == "100-continue"
        self.proxyAuthorization = Self.authorization(head, reverse?.credentials)
        var head = head
        // Meant for this proxy alone (RFC 9110, 11.7.2): a password is neither forwarded nor recorded.
        if head.fields.contains("proxy-authorization") { head.fields = head.fields.removing("proxy-authorization") }
        // Requests inside a tunnel come directly from a client.
        self.hops = scope == nil ? ProxyHop.count(head.fields) : 0
        if scope == nil, head.fields.contains("wiretape-hops") { head.fields = head.fields.removing("wiretape-hops") }
        self.received = head.fields
        self.call = GRPCCall(head)
        if let mapping {
            head.target = self.url
            head.fields = mapping.request(head.fields)
            if head.authority != nil { head.authority = mapping.origin.authority }
        }
        self.head = head
        self.start = start
    }

    /// The target of a request that is addressed to the proxy itself and carries a URL in its path. Also recognised if the request was sent
    /// through the proxy, because many libraries apply proxy settings to every host.
    private static func reverse(_ target: RequestTarget, method: String, address: String) throws(MessageError) -> ReverseTarget? {
        switch target {
        case .origin(let path):
            return try ReverseTarget(path, method: method)
        // The colon is checked first: nearly no path has one, and every request is checked. An escaped colon is refused with a reason.
        case .absolute(let origin, let path)
        where origin.scheme == .http && (path.utf8.contains(UInt8(ascii: ":")) || path.utf8.contains(UInt8(ascii: "%"))):
            guard address.hasSuffix(":\(origin.port)"), LoopbackHost.contains(origin.host) else { return nil }
            return try ReverseTarget(path, method: method)
        case .absolute, .authority, .asterisk:
            return nil
        }
    }

    /// Empty if several values differ, because choosing one would be a guess.
    ///
    /// - Parameter credentials: the credentials in the path.
    private static func authorization(_ head: RequestHead, _ credentials: [UInt8]?) -> String? {
        let written = credentials.map { "Basic \(BasicCredentials.encoded($0))" }
        guard let first = head.fields.first("proxy-authorization") else { return written }
        if let written, written != first { return "" }
        let fields = head.fields
        let differs = (0..<fields.count).contains {
            fields.isNamed("proxy-authorization", at: $0) && !fields.valueBytes(at: $0).elementsEqual(first.utf8)
        }
        return differs ? "" : first
    }

    private static func url(_ head: RequestHead, _ target: RequestTarget, _ named: Authority?, in scope: TunnelScope) -> String {
        let authority = Self.authority(head, named, in: scope)
        switch target {
        case .absolute: return head.target
        case .origin(let path):
            var url = scope.origin.scheme == .https ? "https://" : "http://"
            url.reserveCapacity(url.utf8.count + authority.utf8.count + path.utf8.count)
            url += authority
            url += path
            return url
        // RFC 9112, 3.2.4: OPTIONS * is for the server as a whole, whose URL has no path.
        case .asterisk: return "\(scope.origin.scheme.rawValue)://\(authority)"
        case .authority: return "https://\(head.target)/"
        }
    }

    /// The authority as the client writes it. If it names the tunnel's host without a port, the port is that of the tunnel, because two
    /// servers of one host have the same name. A client that was led elsewhere names the host that it means; nobody leads an isolated
    /// program to another port.
    private static func authority(_ head: RequestHead, _ named: Authority?, in scope: TunnelScope) -> String {
        let origin = scope.origin
        guard let named, let written = head.authority ?? head.fields.first("host") else { return head.authority ?? origin.authority }
        guard named.port == nil, origin.port != origin.scheme.defaultPort, named.host == origin.host || scope.isIsolated else {
            return written
        }
        return "\(written.hasSuffix(":") ? String(written.dropLast()) : written):\(origin.port)"
    }

    /// The authority that the request is addressed to: that of its target, or else of its Host field or `:authority`. nil if it names none.
    /// A CONNECT addresses no resource.
    var named: (host: String, port: Int?)? {
        switch self.target {
        case .absolute(let origin, _): (origin.host, origin.port)
        case .origin, .asterisk: self.host.map { ($0.host, $0.port) }
        case .authority: nil
        }
    }

    /// Whether the target is a path only, so that the tunnel determines the origin.
    var isInTunnel: Bool { if case .origin = self.target { true } else { false } }

    /// Whether it asks for a tunnel.
    var isConnect: Bool { if case .authority = self.target { true } else { false } }

    /// Whether a body follows.
    var hasBody: Bool {
        switch self.framing {
        case .none, .length(0): false
        case .length, .chunked, .untilClose: true
        }
    }

    /// The request can be sent again on another connection.
    var isRepeatable: Bool { self.isIdempotent && !self.hasBody }

    /// Sending the request twice has the same effect as sending it once (RFC 9110, 9.2.2).
    var isIdempotent: Bool {
        switch self.head.method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}
