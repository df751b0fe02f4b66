internal import CassettePlayback
internal import NIOCore
internal import TapeExchange
internal import TapeIsolation
internal import TrafficRules

/// Decides what answers a request: the origin, the cassette, or the proxy itself.
///
/// Lives on its event loop.
struct ExchangeRouter {
    let stream: any ClientStream
    /// How traffic rules change what is forwarded; nil if they do not.
    var change: RequestChange?

    init(stream: any ClientStream, change: RequestChange? = nil) {
        self.stream = stream
        self.change = change
    }

    private var peer: ClientPeer { self.stream.peer }
    private var proxy: ProxyContext { self.stream.peer.session }

    func exchange(for request: IncomingRequest) -> any ClientExchange {
        if let scope = self.peer.scope {
            self.noteIsolated(request)
            return self.exchange(for: request, in: scope)
        }
        // A transparently redirected client cannot send proxy credentials. Whoever configured the redirect rules has already authorised it.
        if request.opening != .transparent, let refusal = self.peer.enterSession(request) {
            self.noteIsolated(request)
            return self.local(request, refusal)
        }
        return self.ownServer(for: request) ?? self.exchange(forAdmitted: request)
    }

    /// Counts a request of an isolated program.
    private func noteIsolated(_ request: IncomingRequest) {
        guard let log = self.proxy.configuration.isolation?.log ?? self.peer.guestLog, !request.isConnect else { return }
        log.requested(
            isProxied: self.peer.scope?.isLed != true, of: self.peer.scope.map { ($0.origin.host, $0.origin.port) })
    }

    /// What asks the isolated program's own servers first for a request to this machine; nil for any other request. One whose URL is in its
    /// path asks for a recording.
    private func ownServer(for request: IncomingRequest) -> (any ClientExchange)? {
        guard let isolation = self.proxy.configuration.isolation, request.reverse == nil, request.opening != .transparent else {
            return nil
        }
        switch request.target {
        case .absolute(let origin, _) where origin.scheme == .http:
            guard isolation.ownAddresses(of: origin.host, port: origin.port) != nil, MaxForwards.left(of: request.head) != 0 else {
                return nil
            }
            return OwnServerExchange(router: self, request: request, origin: origin)
        case .authority(let host, let port) where self.stream is any InterceptableStream:
            guard isolation.ownAddresses(of: host, port: port) != nil else { return nil }
            return OwnServerTunnel(router: self, request: request, host: host, port: port)
        case .absolute, .authority, .origin, .asterisk: return nil
        }
    }

    /// Decides about a request to the proxy that may use its session, and that no server of an isolated program's own answers.
    func exchange(forAdmitted request: IncomingRequest) -> any ClientExchange {
        self.noteIsolated(request)
        guard request.hops <= ProxyHop.limit else { return self.local(request, .ring) }
        if request.reverse != nil, let refusal = self.peer.reverseGate.refusal(of: request.received, host: request.host) {
            return self.local(request, refusal)
        }
        switch request.target {
        case .origin, .asterisk:
            return self.local(request, HelpPage.answer(address: self.proxy.address, method: request.head.method))
        case .authority(let host, let port):
            return self.tunnel(request, host: host, port: port)
        case .absolute(let origin, let path) where request.reverse != nil:
            return self.reverse(request, to: origin, path: path)
        case .absolute(let origin, let path):
            guard origin.scheme == .http else {
                return self.local(
                    request,
                    ProxyAnswer(
                        status: 501, reason: "Not Implemented", error: "scheme",
                        text:
                            "an absolute-form request for \"\(origin.scheme.rawValue)\" cannot be forwarded: ask for a tunnel with CONNECT."
                    ))
            }
            if MagicHost.isNamed(origin.host) { return self.magic(request, path: path, isSecure: false) }
            return self.decide(request, TunnelScope(route: UpstreamRoute(origin, hops: request.hops)))
        }
    }

    /// A request with the URL in its path. Handled like a request to a proxy or, for an https URL, like a request inside a tunnel.
    private func reverse(_ request: IncomingRequest, to origin: Origin, path: String) -> any ClientExchange {
        if MagicHost.isNamed(origin.host) { return self.magic(request, path: path, isSecure: false) }
        let isHTTP2 = request.head.version == .http2
        guard origin.scheme == .https else {
            return self.decide(request, TunnelScope(route: UpstreamRoute(origin, protocols: isHTTP2 ? ["h2c"] : [], hops: request.hops)))
        }
        switch self.proxy.interception?.choice(host: origin.host, port: origin.port) {
        case .refuse: return self.local(request, ReverseGate.excluded(origin.authority, by: "--refuse"))
        case .passThrough: return self.local(request, ReverseGate.excluded(origin.authority, by: "--passthrough"))
        case .intercept, nil: break
        }
        // An IP address is not a server name (RFC 6066, 3).
        let name = IPAddress(origin.host) == nil ? origin.host : nil
        return self.decide(
            request,
            TunnelScope(
                route: UpstreamRoute(
                    origin, serverName: name, protocols: isHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"], hops: request.hops)))
    }

    /// A request inside a tunnel goes to the tunnel's origin. A request for another host is refused (RFC 9110, 7.4), because it would be
    /// recorded under a URL that was never requested.
    private func exchange(for request: IncomingRequest, in scope: TunnelScope) -> any ClientExchange {
        if let named = request.named, !scope.serves(host: named.host, port: named.port) {
            if let scope = self.scope(scope, byAddress: named.host, port: named.port) { return self.exchange(for: request, in: scope) }
            let host = named.host.contains(":") ? "[\(named.host)]" : named.host
            let authority = named.port.map { "\(host):\($0)" } ?? host
            return self.misdirected(request, to: authority, in: scope, .misdirected(to: authority, in: scope.origin.authority))
        }
        if scope.isLed, scope.isByAddress, let named = request.named {
            self.proxy.diagnosis.led(named.host, port: scope.origin.port, to: scope.origin.authority)
        }
        if let address = scope.route.address {
            let server = ListenAddress(host: Endpoint.text(address), port: scope.origin.port)
            self.proxy.diagnosis.led(scope.origin.host, port: scope.origin.port, to: server.description)
        }
        let isSecure = scope.origin.scheme == .https
        if isSecure { self.proxy.common.misdirections.arrived(method: request.head.method, url: request.url) }
        switch request.target {
        case .authority:
            return self.misdirected(
                request, to: request.head.target, in: scope,
                ProxyAnswer(
                    status: 501, reason: "Not Implemented", error: "tunnel",
                    text: "a tunnel inside a tunnel cannot be opened: pass the outer one through with --passthrough \(scope.origin.host)."))
        case .absolute(let origin, let path):
            guard origin.scheme == scope.origin.scheme else {
                return self.misdirected(
                    request, to: "\(origin.scheme.rawValue)://\(origin.authority)", in: scope,
                    ProxyAnswer(
                        status: 421, reason: "Misdirected Request", error: "scheme",
                        text:
                            "the tunnel to \"\(scope.origin.authority)\" carries \(scope.origin.scheme.rawValue): send the request there without a tunnel."
                    ))
            }
            return scope.isMagic ? self.magic(request, path: path, isSecure: isSecure) : self.decide(request, scope)
        case .origin(let path):
            return scope.isMagic ? self.magic(request, path: path, isSecure: isSecure) : self.decide(request, scope)
        case .asterisk:
            return scope.isMagic ? self.magic(request, path: "*", isSecure: isSecure) : self.decide(request, scope)
        }
    }

    /// The tunnel of an isolated program that connected to an address and asks for this address, after it had also looked up a name that
    /// has it: the request is for the address.
    private func scope(_ scope: TunnelScope, byAddress host: String, port: Int?) -> TunnelScope? {
        guard let isolation = self.proxy.configuration.isolation, port == nil || port == scope.origin.port, IPAddress(host) != nil,
            isolation.name(ofAddress: host) == scope.origin.host
        else { return nil }
        let route = scope.route
        return TunnelScope(
            scope,
            route: UpstreamRoute(
                Origin(scheme: route.origin.scheme, host: host, port: route.origin.port), serverName: route.serverName,
                protocols: route.protocols, hops: route.hops))
    }

    /// The proxy answers a request in a tunnel that it cannot forward. A client of HTTP/2 may send it again on another connection (RFC 9113,
    /// 9.1.2); the end of the run shows whether it did. One of HTTP/1 means that server, so the run says what was not forwarded, and a
    /// replay counts a miss.
    private func misdirected(
        _ request: IncomingRequest, to authority: String, in scope: TunnelScope, _ answer: ProxyAnswer
    ) -> any ClientExchange {
        // Without TLS, nobody asks one server in a connection to another and then asks again.
        if request.head.version == .http2, scope.origin.scheme == .https, answer.status == 421,
            self.proxy.common.misdirections.wait(
                for: .init(method: request.head.method, authority: authority, tunnel: scope.origin.authority, text: answer.text),
                url: request.url)
        {
            return self.local(request, answer)
        }
        if self.proxy.session.misdirected(method: request.head.method, authority: authority, tunnel: scope.origin.authority) {
            self.proxy.count { $0.misses += 1 }
        } else {
            self.proxy.diagnosis.remark("a request was answered with \(answer.status) and not forwarded: \(answer.text)")
        }
        return self.local(request, answer)
    }

    private func decide(_ request: IncomingRequest, _ scope: TunnelScope) -> any ClientExchange {
        guard let rules = self.proxy.rules, rules.isActive else { return self.answer(request, scope) }
        let facts = request.facts(body: nil)
        let needs = rules.engine.needs(for: facts)
        if needs.disk || needs.body && request.hasBody {
            return RuledExchange(router: self, request: request, scope: scope, rules: rules, needs: needs)
        }
        guard let plan = rules.plan(for: facts, at: self.proxy.now) ?? (rules.attempts == nil ? nil : ExchangePlan.none) else {
            return self.answer(request, scope)
        }
        return RuledExchange(router: self, request: request, scope: scope, rules: rules, plan: plan)
    }

    /// Answers from the cassette or the origin, as the session decides.
    func answer(_ request: IncomingRequest, _ scope: TunnelScope) -> any ClientExchange {
        // The last recipient answers in place of the origin (RFC 9110, 7.6.2).
        if MaxForwards.left(of: request.head) == 0 { return self.local(request, .lastRecipient(of: request.head)) }
        let opensWebSocket = self.proxy.library != nil && WebSocketHandshake.isAsked(by: request.head)
        let opening = self.proxy.session.begin(
            method: request.head.method, url: request.url, headers: request.head.fields, hasBody: request.hasBody,
            opensWebSocket: opensWebSocket, login: self.peer.login(request.head.fields, to: scope.origin))
        switch opening {
        case .needsBody(let pending) where opensWebSocket && pending.hasEqualHead:
            return WebSocketOpening(router: self, request: request, scope: scope, pending: pending)
        case .decided(.replay(let index, _)) where request.call != nil && request.hasBody:
            return ConversationExchange(router: self, request: request, scope: scope, subject: .chosen(index))
        case .decided(let decision): return self.exchange(following: decision, on: request, in: scope)
        case .needsBody(let pending) where request.call != nil && request.hasBody:
            return self.call(request, scope, pending)
        case .needsBody(let pending): return PendingExchange(router: self, request: request, scope: scope, pending: pending)
        }
    }

    /// A gRPC client may wait for an answer before it ends its request.
    private func call(_ request: IncomingRequest, _ scope: TunnelScope, _ pending: PendingRequest) -> any ClientExchange {
        guard pending.hasEqualHead else {
            return self.exchange(following: self.proxy.session.decideUnread(pending), on: request, in: scope)
        }
        guard self.proxy.session.isConversation(pending) == false else {
            return ConversationExchange(router: self, request: request, scope: scope, subject: .pending(pending))
        }
        return PendingExchange(router: self, request: request, scope: scope, pending: pending)
    }

    /// - Parameter ahead: the part of the request that has already been read.
    func exchange(
        following decision: Decision, on request: IncomingRequest, in scope: TunnelScope, ahead: ReadAhead = ReadAhead()
    ) -> any ClientExchange {
        switch decision {
        case .forward(let record):
            if record, self.proxy.configuration.diskFullPolicy == .refuse, let obstacle = self.proxy.recorder?.obstacle {
                self.proxy.session.didNotReachOrigin()
                return self.local(request, .unrecorded(obstacle), isRead: ahead.isRead)
            }
            let failure = scope.failure
            scope.failure = nil
            return ForwardExchange(
                client: self.stream, request: request, route: scope.route, earlierFailure: failure, records: record, ahead: ahead,
                change: self.change)
        case .replay(let index, let form):
            if let report = self.otherServer(index, request, scope) {
                self.proxy.count { $0.misses += 1 }
                return self.local(request, .miss(report.description), isRead: ahead.isRead)
            }
            self.proxy.count { $0.replayed += 1 }
            self.proxy.log.replay(index, connection: self.peer.id, method: request.head.method, origin: scope.origin)
            self.proxy.configuration.watch?(.replayed(index: index, method: request.head.method, url: request.url))
            self.stream.answers(with: index)
            return ReplayExchange(client: self.stream, request: request, index: index, form: form, ahead: ahead)
        case .allowPreflight:
            self.proxy.count { $0.replayed += 1 }
            return self.local(request, .preflight(for: request.head.fields), isRead: ahead.isRead)
        case .refuse(let report):
            self.proxy.count { $0.misses += 1 }
            self.proxy.log.refuse(connection: self.peer.id, method: request.head.method, origin: scope.origin)
            self.proxy.configuration.watch?(.missed(method: request.head.method, url: request.url))
            return self.local(request, .miss(report.description), isRead: ahead.isRead)
        }
    }

    /// A miss, if an isolated program asks one of several servers that have answered under a name, by its address, and the recorded answer
    /// is another one's.
    private func otherServer(_ index: Int, _ request: IncomingRequest, _ scope: TunnelScope) -> MissReport? {
        guard scope.isIsolated, scope.isByAddress, let asked = IPAddress(scope.origin.host), request.isInTunnel,
            case .absolute(let origin, _)? = try? RequestTarget(request.url, method: "GET"), IPAddress(origin.host) == nil
        else { return nil }
        let servers = self.proxy.common.servers(of: origin)
        guard servers.count > 1, let recorded = self.proxy.common.server(ofExchange: index), recorded != asked else { return nil }
        return self.proxy.session.otherServer(index, recorded: Endpoint.text(recorded), asked: Endpoint.text(asked))
    }

    private func tunnel(_ request: IncomingRequest, host: String, port: Int) -> any ClientExchange {
        // An isolated program may look up a name itself, and then ask the proxy for its address.
        let host = self.proxy.configuration.isolation.flatMap { $0.name(ofAddress: host) } ?? host
        guard let stream = self.stream as? any InterceptableStream else {
            return self.local(
                request,
                ProxyAnswer(
                    status: 501, reason: "Not Implemented", error: "tunnel",
                    text: "a tunnel cannot be opened in an HTTP/2 stream: send the CONNECT in HTTP/1.1."))
        }
        if let isolation = self.proxy.configuration.isolation, let number = UInt16(exactly: port),
            isolation.settings.passages.contains(.init(host: host, port: number))
        {
            isolation.log.passed(host: host, port: number)
            self.proxy.count { $0.tunnels += 1 }
            self.proxy.log.tunnel(.passThrough, connection: self.peer.id, authority: request.head.target)
            return ConnectExchange(client: stream, request: request, host: host, port: port)
        }
        if let tunnel = IsolatedTunnel(self.peer, host: host, port: port) {
            tunnel.noteProgram()
            if tunnel.isForbidden {
                return ForbiddenTunnel(client: stream, tunnel) { self.local(request, tunnel.answer) }
            }
        }
        if let interception = self.proxy.interception {
            let choice = MagicHost.isNamed(host) ? .intercept : interception.choice(host: host, port: port)
            switch choice {
            case .intercept:
                if let alert = self.proxy.rules?.alert(host: host, port: port, at: self.proxy.now) {
                    self.proxy.session.answeredByRule()
                    return BrokenHandshake(client: stream, request: request, alert: alert)
                }
                self.proxy.log.tunnel(.intercept, connection: self.peer.id, authority: request.head.target)
                return InterceptExchange(client: stream, interception: interception, request: request, host: host, port: port)
            case .refuse:
                self.proxy.log.tunnel(.refuse, connection: self.peer.id, authority: request.head.target)
                return self.local(request, .refusedTunnel(request.head.target))
            case .passThrough: break
            }
        }
        // The content of a tunnel that is passed through is not in the cassette, so a replay-only session refuses to open one.
        switch self.proxy.session.beginTunnel(to: "https://\(request.head.target)/") {
        case .refuse(let report):
            self.proxy.count { $0.misses += 1 }
            self.proxy.log.tunnel(.refuse, connection: self.peer.id, authority: request.head.target)
            return self.local(request, .miss(report.description))
        case .forward, .replay, .allowPreflight:
            self.proxy.log.tunnel(.passThrough, connection: self.peer.id, authority: request.head.target)
            self.proxy.count { $0.tunnels += 1 }
            return ConnectExchange(client: stream, request: request, host: host, port: port)
        }
    }

    private func magic(_ request: IncomingRequest, path: String, isSecure: Bool) -> any ClientExchange {
        self.local(
            request, MagicHost().answer(method: request.head.method, target: path, isSecure: isSecure, status: self.proxy.magicStatus))
    }

    private func local(_ request: IncomingRequest, _ answer: ProxyAnswer, isRead: Bool = false) -> any ClientExchange {
        guard request.opening == .connect else {
            return RefusedTunnel(client: self.stream, opening: request.opening, answer: answer)
        }
        return LocalExchange(client: self.stream, request: request, answer: answer, isRead: isRead, endsUnread: request.call != nil)
    }
}

/// A request that the proxy answers itself, after it has read the request to its end.
///
/// Not Sendable: lives on its event loop.
final class LocalExchange: MessageExchange {
    private let client: any ClientStream
    private let request: IncomingRequest
    private let answer: ProxyAnswer
    private let isRead: Bool
    private let endsUnread: Bool
    private var isOver = false
    private(set) var deadline: NIODeadline

    /// - Parameters:
    ///   - isRead: the whole request has been read.
    ///   - endsUnread: answer without reading the rest of the request, which the client may send only after the answer.
    init(client: any ClientStream, request: IncomingRequest, answer: ProxyAnswer, isRead: Bool = false, endsUnread: Bool = false) {
        self.client = client
        self.request = request
        self.answer = answer
        self.isRead = isRead
        self.endsUnread = endsUnread
        self.deadline = client.peer.session.stallDeadline
    }

    func start() {
        // A client that waits for 100 receives the final answer instead and sends no body (RFC 9110, 10.1.1).
        if self.isRead || !self.request.hasBody || self.endsUnread || self.request.expectsContinue { return self.finish(with: self.answer) }
        self.client.setReading(true)
    }

    func requestBody(_ piece: BodyPiece) {
        self.deadline = self.client.peer.session.stallDeadline
        if piece.isLast { self.finish(with: self.answer) }
    }

    func requestFailed(_ error: MessageError) { self.finish(with: .malformed(error)) }

    private func finish(with answer: ProxyAnswer) {
        guard !self.isOver else { return }
        self.isOver = true
        self.client.send(answer.visible(to: self.request.head.fields), isFinal: false)
        self.client.finish()
    }

    func clientLeft(_ reason: String) { self.isOver = true }

    func deadlinePassed() { self.client.close() }
}
