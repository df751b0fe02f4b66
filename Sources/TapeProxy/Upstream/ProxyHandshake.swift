internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeTLS

/// Turns a connection to a proxy into one to an origin: TLS with the proxy if its URL says so, then CONNECT or SOCKS. Then it leaves the
/// pipeline.
///
/// Not Sendable: lives on its event loop.
final class ProxyHandshake: ChannelInboundHandler, RemovableChannelHandler, TLSHandlerOwner {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase { case connecting, secured, asking, open, over }

    private let proxy: UpstreamProxy
    private let route: UpstreamRoute
    /// nil if each request names its origin itself.
    private var client: (any TunnelClient)?
    private let isSecure: Bool
    private var phase = Phase.connecting
    private var context: ChannelHandlerContext?
    private var input: [UInt8] = []
    private var failure: Failure?
    private var then: ((Failure?) -> Void)?
    private var timer: Scheduled<Void>?

    /// - Parameter isSession: the proxy is the port of a session, and the connection that of an isolated program.
    init(_ proxy: UpstreamProxy, to route: UpstreamRoute, isSession: Bool = false) {
        self.proxy = proxy
        self.route = route
        self.isSecure = proxy.scheme == .https
        switch proxy.scheme {
        case .http, .https:
            let authority = ListenAddress(host: route.origin.host, port: route.origin.port).description
            self.client =
                route.isForwarded(by: proxy)
                ? nil : ConnectClient(authority: authority, authorization: proxy.authorization, hop: route.hops + 1)
        case .socks5:
            let host = IPAddress(route.origin.host).map { SOCKS5.Host.address($0.bytes) } ?? .name(route.origin.host)
            self.client = SOCKSClient(
                host: host, port: route.origin.port, login: proxy.login,
                for: isSession ? .connectIsolated(address: route.address?.bytes) : .connect)
        }
    }

    /// Called when the connection is open. Calls back once the following bytes are the origin's, or with the failure.
    func wait(_ seconds: Int, on loop: any EventLoop, then: @escaping (Failure?) -> Void) {
        self.then = then
        if let failure { return self.fail(failure) }
        self.timer = loop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) { [self] in
            self.fail(self.proxy.failure(.timeout, "\(self.awaited) within \(seconds) s: is it \(self.proxy.kindName)?", to: self.route))
        }
        if !self.isSecure || self.phase == .secured { self.ask() }
    }

    /// What the proxy failed to do after it accepted the connection.
    private var awaited: String {
        switch (self.phase, self.proxy.scheme) {
        case (.asking, .socks5): "accepted the connection, but did not answer in SOCKS5"
        case (.asking, _): "accepted the connection, but did not answer CONNECT"
        default: "accepted the connection, but did not complete the TLS handshake"
        }
    }

    /// Passes on the bytes that followed the proxy's last message, and leaves the pipeline.
    func leave() {
        guard let context else { return }
        if !self.input.isEmpty {
            context.fireChannelRead(self.wrapInboundOut(ByteBuffer(bytes: self.input)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func ask() {
        guard let client else { return self.end() }
        self.phase = .asking
        self.send(client.greeting)
    }

    private func send(_ bytes: [UInt8]) { self.context?.writeAndFlush(self.wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil) }

    private func end() {
        self.phase = .open
        self.callBack(nil)
    }

    private func fail(_ failure: Failure) {
        guard self.phase != .open, self.phase != .over else { return }
        guard self.then != nil else { return self.failure = failure }
        self.phase = .over
        self.context?.close(promise: nil)
        self.callBack(failure)
    }

    private func callBack(_ failure: Failure?) {
        self.timer?.cancel()
        self.timer = nil
        let then = self.then.take()
        then?(failure)
    }

    // MARK: TLS with the proxy

    func tlsHello(_ hello: ClientHello) {}

    func tlsEstablished() {
        self.phase = .secured
        if self.then != nil { self.ask() }
    }

    func tlsFailed(_ failure: TLSFailure) {
        let problem = TLSProblem(leg: .upstream, host: self.proxy.host, port: self.proxy.port, failure: failure)
        self.fail(Failure(kind: .tls, message: "the upstream proxy \"\(self.proxy)\" (\(self.proxy.source)): \(problem)"))
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.phase != .open, self.phase != .over else { return context.fireChannelRead(data) }
        self.input += Array(self.unwrapInboundIn(data).readableBytesView)
        while self.phase == .asking, self.step() {}
    }

    /// - Returns: whether more may be parsed.
    private func step() -> Bool {
        var rest = self.input[...]
        let step = self.client?.receive(&rest) ?? .needsMore
        self.input = Array(rest)
        switch step {
        case .needsMore: return false
        case .send(let bytes):
            self.send(bytes)
            return true
        case .open:
            self.end()
            return false
        case .failed(let problem):
            self.fail(self.proxy.failure(problem, to: self.route))
            return false
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent, self.phase != .open else { return context.fireUserInboundEventTriggered(event) }
        self.ended()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.ended()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard self.phase != .open else { return context.fireErrorCaught(error) }
        self.ended()
    }

    private func ended() {
        self.fail(
            self.proxy.failure(.reset, "closed the connection before it had opened a tunnel: is it \(self.proxy.kindName)?", to: self.route)
        )
    }
}

extension UpstreamRoute {
    /// Whether the proxy takes this route's requests with absolute URLs. It then forwards only requests, not raw bytes.
    func isForwarded(by proxy: UpstreamProxy) -> Bool {
        proxy.scheme != .socks5 && self.origin.scheme == .http && !self.isTunnelled && !self.mayBeHTTP2
    }
}

/// Failures of a proxy, in words that name the proxy and the next step.
extension UpstreamProxy {
    fileprivate var kindName: String { self.scheme == .socks5 ? "a SOCKS5 proxy" : "an HTTP proxy" }

    func failure(_ kind: Failure.Kind, _ text: String, to route: UpstreamRoute) -> Failure {
        Failure(
            kind: kind,
            message: "the upstream proxy \"\(self)\" (\(self.source)) \(text) --no-upstream-proxy \(route.origin.host) bypasses it.")
    }

    func failure(_ problem: TunnelProblem, to route: UpstreamRoute) -> Failure {
        let origin = "\"\(ListenAddress(host: route.origin.host, port: route.origin.port))\""
        switch problem {
        case .notThisProtocol:
            return self.failure(
                .malformed, "sent an answer that is not \(self.scheme == .socks5 ? "SOCKS5" : "HTTP"): is it \(self.kindName)?", to: route)
        case .needsLogin(let schemes): return self.needsLogin(schemes)
        case .refused(let words):
            return self.failure(.unreachable, "allows no connection to \(origin) (\(words)): ask its administrator.", to: route)
        case .ring:
            return self.failure(
                .unreachable, "is one of several that name each other as their upstream proxy: give one of them a different one.", to: route
            )
        case .unreachable(let words):
            return self.failure(.unreachable, "cannot reach \(origin) (\(words)): is the origin up?", to: route)
        }
    }

    /// - Parameter schemes: the authentication schemes that the proxy accepts, if it named any.
    func needsLogin(_ schemes: [String]) -> Failure {
        let next: String
        if !schemes.isEmpty, !schemes.contains(where: { $0.lowercased() == "basic" }) {
            next =
                "accepts only \(schemes.joined(separator: ", ")), but wiretape supports only Basic: run a helper for it on this machine, and name that one."
        } else if self.credentials == nil {
            next =
                "requires a user and a password: set WIRETAPE_UPSTREAM_PROXY_AUTH to USER:PASSWORD, or pass --upstream-proxy-auth-file FILE."
        } else {
            next = "does not accept the user and the password given: correct them."
        }
        return Failure(kind: .unreachable, message: "the upstream proxy \"\(self)\" (\(self.source)) \(next)")
    }

    /// The proxy itself could not be reached.
    func undialled(_ failure: Failure, to route: UpstreamRoute) -> Failure {
        switch failure.kind {
        case .dns: self.failure(.dns, "was not found: check its name.", to: route)
        case .refused: self.failure(.refused, "refused the connection: is it running?", to: route)
        case .timeout: self.failure(.timeout, "did not answer in time: is it up?", to: route)
        case .unreachable, .reset, .tls, .truncated, .cancelled, .malformed, .unprocessed:
            self.failure(failure.kind, "cannot be reached: check its address.", to: route)
        }
    }

    /// The upstream proxy is this proxy itself.
    var isSelf: Failure {
        Failure(kind: .unreachable, message: "the upstream proxy \"\(self)\" (\(self.source)) is this proxy itself: name another one.")
    }
}
