internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeIsolation
internal import TapeTLS

/// Connects to origins: dials and, if the route is https, completes the TLS handshake.
///
/// Keeps no connections: see `UpstreamPool`. While it is unknown whether a route's origin speaks HTTP/2, one connection is made, and other
/// exchanges wait to share it. Not Sendable: lives on its event loop.
final class DirectDialing: Dialing {
    private typealias Outcome = Result<UpstreamConnection, DialFailure>

    private let shared: ProxyLoop
    private let pool: UpstreamPool
    private let sessions = TLSSessionCache()
    private let lookups = PendingLookups()
    private let diagnosis: Diagnosis
    private let log: ProxyLog
    private let nextID: @Sendable () -> Int
    /// Exchanges that wait for another exchange's connection.
    private var waiting: [UpstreamRoute: [(Result<any UpstreamStream, DialFailure>) -> Void]] = [:]
    /// Routes whose origins were offered HTTP/2 but speak HTTP/1.1.
    private var withoutHTTP2: Set<UpstreamRoute> = []
    /// Handshakes that are under way end now, through no fault of their origins.
    private var isStopped = false

    /// - Parameter nextID: returns the number of a connection, unique across all event loops of a session.
    init(
        shared: ProxyLoop, pool: UpstreamPool, diagnosis: Diagnosis, log: ProxyLog = ProxyLog(), nextID: @escaping @Sendable () -> Int
    ) {
        self.shared = shared
        self.log = log
        self.pool = pool
        self.diagnosis = diagnosis
        self.nextID = nextID
    }

    func open(_ asked: UpstreamRoute, lookup: NameLookup?, then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void) {
        let route = self.pool.substitutes.route(for: asked)
        guard self.mayBeHTTP2(route) else { return self.connect(route, lookup) { result in self.connected(route, result, then) } }
        if let stream = self.pool.share(route) { return then(.success(stream)) }
        guard self.waiting[route] == nil else { return self.waiting[route, default: []].append(then) }
        self.waiting[route] = []
        self.connect(route, lookup) { result in self.connected(route, result, then) }
    }

    private func mayBeHTTP2(_ route: UpstreamRoute) -> Bool { route.mayBeHTTP2 && !self.withoutHTTP2.contains(route) }

    /// A connection for a route was made. Exchanges that waited for it share it or make their own.
    private func connected(
        _ route: UpstreamRoute, _ result: Outcome, _ then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void
    ) {
        let waiting = self.waiting.removeValue(forKey: route)
        switch result {
        case .failure(let failure):
            then(.failure(failure))
            for other in waiting ?? [] { other(.failure(failure)) }
        case .success(let connection)
        where connection.protocolName == "h2" || (route.origin.scheme == .http && self.mayBeHTTP2(route)):
            // Others are still waiting, and more may come.
            self.waiting[route] = waiting
            self.greet(connection, of: route, then)
        case .success(let connection):
            // The connection may have been offered more protocols than the original route.
            self.remember(withoutHTTP2: connection.route)
            then(.success(HTTP1UpstreamStream(connection, pool: self.pool)))
            for other in waiting ?? [] { self.open(route, lookup: nil, then: other) }
        }
    }

    /// Waits for the origin's settings, which must come first. An origin that sends anything else does not speak HTTP/2.
    private func greet(
        _ connection: UpstreamConnection, of route: UpstreamRoute, _ then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void
    ) {
        let shared = try? HTTP2UpstreamConnection(
            connection, flushes: self.shared.flushes, clock: self.shared.clock,
            requireHTTP1: { [substitutes = self.pool.substitutes] in substitutes.requireHTTP1(for: route) })
        guard let shared else {
            connection.close()
            return self.greeted(route, .failure(.failed(Failure(kind: .cancelled, message: "the proxy is out of memory"))), then)
        }
        shared.greet(within: self.shared.limits.tunnelSilence, on: self.shared.loop) { [weak self] failure in
            guard let self else { return }
            guard let failure else {
                self.pool.put(shared)
                return self.greeted(route, .success(shared), then)
            }
            guard route.origin.scheme == .http else { return self.greeted(route, .failure(.failed(failure)), then) }
            self.remember(withoutHTTP2: route)
            for other in (self.waiting.removeValue(forKey: route) ?? []) + [then] { self.open(route, lookup: nil, then: other) }
        }
    }

    private func greeted(
        _ route: UpstreamRoute, _ result: Result<HTTP2UpstreamConnection, DialFailure>,
        _ then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void
    ) {
        for waiter in [then] + (self.waiting.removeValue(forKey: route) ?? []) { waiter(result.map { $0.makeStream() }) }
    }

    private func remember(withoutHTTP2 route: UpstreamRoute) {
        guard route.mayBeHTTP2 else { return }
        if self.withoutHTTP2.count >= 4096 { self.withoutHTTP2.removeAll() }
        self.withoutHTTP2.insert(route)
    }

    func openTunnel(_ route: UpstreamRoute, then: @escaping (Result<UpstreamConnection, DialFailure>) -> Void) {
        var route = route
        route.isTunnelled = true
        route.isUnread = true
        self.connect(route, nil, then: then)
    }

    func stop() {
        self.isStopped = true
        self.lookups.stop()
    }

    private func connect(_ route: UpstreamRoute, _ lookup: NameLookup?, then: @escaping (Outcome) -> Void) {
        if let failure = self.shared.dialer.obstacle(to: route.origin.host) { return then(.failure(.failed(failure))) }
        let proxy = self.proxy(for: route)
        let connection = UpstreamConnection(
            route: route, id: self.nextID(), flushes: self.shared.flushes, clock: self.shared.clock, limits: self.shared.limits,
            diagnosis: route.origin.scheme == .https ? self.diagnosis : nil,
            forwarder: proxy.flatMap { route.isForwarded(by: $0) ? $0 : nil })
        guard route.origin.scheme == .https else { return self.dial(connection, lookup, then: then) }
        do throws(TLSFailure) {
            let tls = try self.shared.upstreamTLS.get().connection(route, sessions: self.sessions)
            self.dial(connection, TLSHandler(tls, isClient: true), lookup, then: then)
        } catch {
            then(.failure(.failed(self.failure(error, route))))
        }
    }

    /// The proxy through which a route's origin is reached; nil if it is reached directly.
    private func proxy(for route: UpstreamRoute) -> UpstreamProxy? { route.isInside ? nil : self.shared.chain.proxy(for: route) }

    private func dial(_ connection: UpstreamConnection, _ lookup: NameLookup?, then: @escaping (Outcome) -> Void) {
        let box = NIOLoopBound(connection, eventLoop: self.shared.loop)
        let shared = self.shared
        self.reach(connection, lookup) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(box.value) }
        } then: { result in
            shared.clock.read()
            switch result {
            case .success((let channel, let timing)):
                self.opened(connection, channel, timing)
                then(.success(connection))
            case .failure(let error):
                self.failed(connection.route, error)
                then(.failure(error))
            }
        }
    }

    private func dial(_ connection: UpstreamConnection, _ handler: TLSHandler, _ lookup: NameLookup?, then: @escaping (Outcome) -> Void) {
        let handshake = UpstreamHandshake(connection, handler)
        let box = NIOLoopBound((handler, connection), eventLoop: self.shared.loop)
        let shared = self.shared
        self.reach(connection, lookup) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([box.value.0, box.value.1] as [any ChannelHandler])
            }
        } then: { result in
            switch result {
            case .success((let channel, let timing)):
                self.opened(connection, channel, timing)
                handshake.wait(shared.limits.tlsHandshake, on: shared.loop) { result in
                    shared.clock.read()
                    switch result {
                    case .success:
                        connection.logSecured(to: self.log)
                        then(.success(connection))
                    // The proxy itself has closed it.
                    case .failure(let failure) where self.isStopped && failure.cause == .closed: then(.failure(.stopped))
                    case .failure(let failure):
                        let route = connection.route
                        guard failure.cause == .noSharedProtocol, let other = self.pool.substitutes.offering(moreThan: route) else {
                            return then(.failure(.failed(self.failure(failure, route))))
                        }
                        self.connect(other, nil, then: then)
                    }
                }
            case .failure(let error):
                handshake.forget()
                shared.clock.read()
                self.failed(connection.route, error)
                then(.failure(error))
            }
        }
    }

    private typealias Reached = Result<(any Channel, DialTiming), DialFailure>

    /// Makes a connection whose bytes go to the origin, or to a proxy that forwards requests to it.
    private func reach(
        _ connection: UpstreamConnection, _ lookup: NameLookup?, prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Reached) -> Void
    ) {
        let route = connection.route
        guard let proxy = self.proxy(for: route) else {
            return self.reachDirectly(route, lookup, prepare: prepare, then: then)
        }
        let handshake = ProxyHandshake(proxy, to: self.onThisMachine(route), isSession: self.shared.chain.isSession)
        var handlers: [any ChannelHandler] = [handshake]
        if proxy.scheme == .https {
            let name = IPAddress(proxy.host) == nil ? proxy.host : nil
            let toProxy = UpstreamRoute(
                Origin(scheme: .https, host: proxy.host, port: proxy.port), serverName: name, protocols: ["http/1.1"])
            do throws(TLSFailure) {
                let tls = TLSHandler(try self.shared.upstreamTLS.get().connection(toProxy, sessions: self.sessions), isClient: true)
                tls.owner = handshake
                handlers.insert(tls, at: 0)
            } catch {
                return then(.failure(.failed(self.failure(error, toProxy))))
            }
        }
        let box = NIOLoopBound(handlers, eventLoop: self.shared.loop)
        let shared = self.shared
        shared.dialer.dial(host: proxy.host, port: proxy.port, among: self.lookups) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandlers(box.value) }
        } then: { result in
            switch result {
            case .success((let channel, var timing)):
                let began = NIODeadline.now()
                handshake.wait(shared.limits.connect, on: shared.loop) { failure in
                    if let failure { return then(.failure(.failed(failure))) }
                    timing.connect += Double((NIODeadline.now() - began).nanoseconds) / 1e6
                    prepare(channel).assumeIsolated().whenComplete { result in
                        guard case .success = result else {
                            return then(.failure(.failed(proxy.failure(.reset, "closed the tunnel that it had opened:", to: route))))
                        }
                        then(.success((channel, timing)))
                        handshake.leave()
                    }
                }
            // The shell's proxy variables point to this proxy itself.
            case .failure(.loop) where proxy.isFromEnvironment:
                connection.isDirect()
                self.reachDirectly(route, lookup, prepare: prepare, then: then)
            case .failure(.loop): then(.failure(.failed(proxy.isSelf)))
            case .failure(.failed(let failure)): then(.failure(.failed(proxy.undialled(failure, to: route))))
            case .failure(.stopped): then(.failure(.stopped))
            }
        }
    }

    /// A server of this machine may listen in one family of loopback, and a program asks for `localhost` in the other: a proxy that reaches
    /// this machine, which is a session, is asked for the one that it listens in.
    private func onThisMachine(_ route: UpstreamRoute) -> UpstreamRoute {
        guard self.shared.chain.isSession, let address = IPAddress(route.origin.host), address.isLoopback,
            let port = UInt16(exactly: route.origin.port)
        else { return route }
        let (own, other) = address.bytes.count == 4 ? ("127.0.0.1", "::1") : ("::1", "127.0.0.1")
        let listening = ListeningPorts.addresses(of: port)
        guard !listening.contains(own), listening.contains(other) else { return route }
        return UpstreamRoute(
            Origin(scheme: route.origin.scheme, host: other, port: route.origin.port), serverName: route.serverName,
            protocols: route.protocols, hops: route.hops)
    }

    private func reachDirectly(
        _ route: UpstreamRoute, _ lookup: NameLookup?, prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>,
        then: @escaping (Reached) -> Void
    ) {
        if route.isInside {
            return self.shared.dialer.dialInside(
                host: route.origin.host, port: route.origin.port, address: route.address, prepare: prepare, then: then)
        }
        self.shared.dialer.dial(
            host: route.origin.host, port: route.origin.port, address: route.address, lookup: lookup, among: self.lookups,
            prepare: prepare, then: then)
    }

    private func opened(_ connection: UpstreamConnection, _ channel: any Channel, _ timing: DialTiming) {
        connection.opened(channel, timing: timing)
        self.log.connected(
            connection.id, origin: connection.origin, remote: connection.remote, milliseconds: timing.connect)
    }

    private func failed(_ route: UpstreamRoute, _ failure: DialFailure) {
        if case .failed(let failure) = failure { self.log.connectFailed(origin: route.origin, kind: failure.kind) }
    }

    private func failure(_ failure: TLSFailure, _ route: UpstreamRoute) -> Failure {
        let problem = TLSProblem(leg: .upstream, host: route.verifiedHost, port: route.origin.port, failure: failure)
        self.diagnosis.report(problem)
        return Failure(kind: .tls, message: problem.description)
    }
}

/// Waits for an upstream connection's TLS handshake and passes its result to the connection.
///
/// Retains itself until the handshake is over. Not Sendable: lives on its event loop.
final class UpstreamHandshake: TLSHandlerOwner {
    private enum State {
        case running
        case over(Result<Void, TLSFailure>)
    }

    private let upstream: UpstreamConnection
    private let handler: TLSHandler
    private let started = NIODeadline.now()
    private var connected: NIODeadline?
    private var state = State.running
    private var then: ((Result<Void, TLSFailure>) -> Void)?
    private var timer: Scheduled<Void>?
    private var retained: UpstreamHandshake?

    init(_ upstream: UpstreamConnection, _ handler: TLSHandler) {
        self.upstream = upstream
        self.handler = handler
        handler.owner = self
        self.retained = self
    }

    /// Called when the connection is open. Calls back when the handshake has completed, failed or timed out.
    func wait(_ seconds: Int, on loop: any EventLoop, then: @escaping (Result<Void, TLSFailure>) -> Void) {
        self.connected = .now()
        self.then = then
        if case .over = self.state { return self.callBack() }
        self.timer = loop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) { [self] in
            self.end(.failure(TLSFailure(cause: .timeout, message: "the handshake took longer than \(seconds) s")))
        }
    }

    /// No connection was made.
    func forget() { self.retained = nil }

    func tlsHello(_ hello: ClientHello) {}

    func tlsEstablished() {
        let milliseconds = self.connected.map { Double((NIODeadline.now() - $0).nanoseconds) / 1e6 } ?? 0
        let certificates = self.handler.inspect { $0.peerCertificates() }
        let details = self.handler.inspect { TLSDetails($0, serverName: self.upstream.route.serverName, certificates: certificates) }
        self.upstream.secured(details, names: certificates.first?.names ?? [], milliseconds: milliseconds)
        self.end(.success(()))
    }

    func tlsFailed(_ failure: TLSFailure) { self.end(.failure(failure)) }

    private func end(_ result: Result<Void, TLSFailure>) {
        guard case .running = self.state else { return }
        self.state = .over(result)
        self.timer?.cancel()
        if case .failure = result { self.upstream.close() }
        self.callBack()
    }

    private func callBack() {
        guard case .over(let result) = self.state, let then else { return }
        self.then = nil
        self.retained = nil
        then(result)
    }
}
