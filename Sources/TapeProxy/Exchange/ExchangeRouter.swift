internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// Says what a request is answered by: the origin, the cassette, or the proxy itself.
///
/// Lives on its event loop.
struct ExchangeRouter {
    let stream: any InterceptableStream

    private var peer: ClientPeer { self.stream.peer }
    private var proxy: ProxyContext { self.stream.peer.session }

    func exchange(for request: IncomingRequest) -> any ClientExchange {
        if let scope = self.peer.scope { return self.exchange(for: request, in: scope) }
        if let refusal = self.peer.enterSession(request) { return self.local(request, refusal) }
        if request.reverse != nil {
            if let refusal = self.peer.reverseGate.refusal(of: request.head.fields, host: request.host) {
                return self.local(request, refusal)
            }
            request.takeOriginsNames()
        }
        switch request.target {
        case .origin, .asterisk:
            return self.local(request, HelpPage.answer(address: self.proxy.address, method: request.head.method))
        case .authority(let host, let port):
            return self.tunnel(request, host: host, port: port)
        case .absolute(let origin, let path) where request.reverse != nil:
            return self.reversed(request, to: origin, path: path)
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
            return self.decided(request, TunnelScope(route: UpstreamRoute(origin)))
        }
    }

    /// A URL in the path: as if a proxy's client had asked for it, inside a tunnel if it is https.
    private func reversed(_ request: IncomingRequest, to origin: Origin, path: String) -> any ClientExchange {
        if MagicHost.isNamed(origin.host) { return self.magic(request, path: path, isSecure: false) }
        guard origin.scheme == .https else { return self.decided(request, TunnelScope(route: UpstreamRoute(origin))) }
        switch self.proxy.interception?.choice(host: origin.host, port: origin.port) {
        case .refuse: return self.local(request, ReverseGate.excluded(origin.authority, by: "--refuse"))
        case .passThrough: return self.local(request, ReverseGate.excluded(origin.authority, by: "--passthrough"))
        case .intercept, nil: break
        }
        // An address is no server name (RFC 6066, 3).
        let name = IPAddress(origin.host) == nil ? origin.host : nil
        return self.decided(request, TunnelScope(route: UpstreamRoute(origin, serverName: name, protocols: ["http/1.1"])))
    }

    /// A request inside a tunnel goes where the tunnel goes, whatever it says of itself (RFC 9110, 7.4).
    private func exchange(for request: IncomingRequest, in scope: TunnelScope) -> any ClientExchange {
        let isSecure = scope.origin.scheme == .https
        switch request.target {
        case .authority:
            return self.local(
                request,
                ProxyAnswer(
                    status: 501, reason: "Not Implemented", error: "tunnel",
                    text: "a tunnel inside a tunnel cannot be opened: pass the outer one through with --passthrough \(scope.origin.host)."))
        case .absolute(let origin, let path):
            guard origin.scheme == scope.origin.scheme else {
                return self.local(
                    request,
                    ProxyAnswer(
                        status: 421, reason: "Misdirected Request", error: "scheme",
                        text:
                            "the tunnel to \"\(scope.origin.authority)\" carries \(scope.origin.scheme.rawValue): send the request there without a tunnel."
                    ))
            }
            return scope.isMagic ? self.magic(request, path: path, isSecure: isSecure) : self.decided(request, scope)
        case .origin(let path):
            return scope.isMagic ? self.magic(request, path: path, isSecure: isSecure) : self.decided(request, scope)
        case .asterisk:
            return scope.isMagic ? self.magic(request, path: "*", isSecure: isSecure) : self.decided(request, scope)
        }
    }

    private func decided(_ request: IncomingRequest, _ scope: TunnelScope) -> any ClientExchange {
        let opening = self.proxy.session.begin(
            method: request.head.method, url: request.url, headers: request.head.fields, hasBody: request.hasBody)
        return switch opening {
        case .decided(let decision): self.exchange(following: decision, on: request, in: scope)
        case .needsBody(let pending): PendingExchange(router: self, request: request, scope: scope, pending: pending)
        }
    }

    /// - Parameter ahead: what was read of the request by now.
    func exchange(
        following decision: Decision, on request: IncomingRequest, in scope: TunnelScope, ahead: ReadAhead = ReadAhead()
    ) -> any ClientExchange {
        switch decision {
        case .forward(let record):
            if record, self.proxy.configuration.diskFullPolicy == .refuse, let obstacle = self.proxy.recorder?.obstacle {
                return self.local(request, .unrecorded(obstacle), isRead: ahead.isRead)
            }
            let failure = scope.failure
            scope.failure = nil
            return ForwardExchange(
                client: self.stream, request: request, route: scope.route, earlierFailure: failure, records: record, ahead: ahead)
        case .replay(let index):
            self.proxy.count { $0.replayed += 1 }
            self.proxy.log.replay(index, connection: self.peer.id, method: request.head.method, origin: scope.origin)
            return ReplayExchange(client: self.stream, request: request, index: index, ahead: ahead)
        case .refuse(let report):
            self.proxy.count { $0.misses += 1 }
            self.proxy.log.refuse(connection: self.peer.id, method: request.head.method, origin: scope.origin)
            return self.local(request, .miss(report.description), isRead: ahead.isRead)
        }
    }

    private func tunnel(_ request: IncomingRequest, host: String, port: Int) -> any ClientExchange {
        if let interception = self.proxy.interception {
            let choice = MagicHost.isNamed(host) ? .intercept : interception.choice(host: host, port: port)
            switch choice {
            case .intercept:
                self.proxy.log.tunnel(.intercept, connection: self.peer.id, authority: request.head.target)
                return InterceptExchange(client: self.stream, interception: interception, request: request, host: host, port: port)
            case .refuse:
                self.proxy.log.tunnel(.refuse, connection: self.peer.id, authority: request.head.target)
                return self.local(request, .refusedTunnel(request.head.target))
            case .passThrough: break
            }
        }
        // What goes through a tunnel unread is not in the cassette: a session that only replays refuses to open one.
        switch self.proxy.session.beginTunnel(to: "https://\(request.head.target)/") {
        case .refuse(let report):
            self.proxy.count { $0.misses += 1 }
            self.proxy.log.tunnel(.refuse, connection: self.peer.id, authority: request.head.target)
            return self.local(request, .miss(report.description))
        case .forward, .replay:
            self.proxy.log.tunnel(.passThrough, connection: self.peer.id, authority: request.head.target)
            self.proxy.count { $0.tunnels += 1 }
            return ConnectExchange(client: self.stream, request: request, host: host, port: port)
        }
    }

    private func magic(_ request: IncomingRequest, path: String, isSecure: Bool) -> any ClientExchange {
        self.local(
            request, MagicHost().answer(method: request.head.method, target: path, isSecure: isSecure, status: self.proxy.magicStatus))
    }

    private func local(_ request: IncomingRequest, _ answer: ProxyAnswer, isRead: Bool = false) -> any ClientExchange {
        LocalExchange(client: self.stream, request: request, answer: answer, isRead: isRead)
    }
}
