internal import NIOCore
internal import TapeCore
internal import TapeExchange
internal import TapeTLS

/// Makes upstream connections that are ready for requests: dials, and where the route is https shakes hands.
///
/// Keeps nothing: see `UpstreamPool`. Not Sendable: lives on its event loop.
final class UpstreamConnector {
    typealias Outcome = Result<UpstreamHandler, UpstreamDialer.DialError>

    private let loop: any EventLoop
    private let limits: ProxyLimits
    private let dialer: UpstreamDialer
    private let flushes: FlushQueue
    private let tls: UpstreamTLSSource
    private let sessions = TLSSessionCache()
    private let diagnosis: Diagnosis
    private let nextID: @Sendable () -> Int

    /// - Parameter nextID: the number of a connection, unique over all event loops of a session.
    init(
        loop: any EventLoop, limits: ProxyLimits, dialer: UpstreamDialer, flushes: FlushQueue, tls: UpstreamTLSSource,
        diagnosis: Diagnosis, nextID: @escaping @Sendable () -> Int
    ) {
        self.loop = loop
        self.limits = limits
        self.dialer = dialer
        self.flushes = flushes
        self.tls = tls
        self.diagnosis = diagnosis
        self.nextID = nextID
    }

    /// Connects and calls back on the loop.
    ///
    /// - Parameter lookup: the origin's name, where looking it up was started ahead.
    func connect(_ route: UpstreamRoute, lookup: NameLookup? = nil, then: @escaping (Outcome) -> Void) {
        let upstream = UpstreamHandler(route: route, id: self.nextID(), flushes: self.flushes)
        guard route.origin.scheme == .https else { return self.dial(upstream, lookup, then: then) }
        do throws(TLSFailure) {
            upstream.diagnosis = self.diagnosis
            let handler = TLSHandler(try self.tls.get().connection(route, sessions: self.sessions), isClient: true)
            self.dial(upstream, handler, lookup, then: then)
        } catch {
            then(.failure(.failed(self.failure(error, route))))
        }
    }

    private func dial(_ upstream: UpstreamHandler, _ lookup: NameLookup?, then: @escaping (Outcome) -> Void) {
        let box = NIOLoopBound(upstream, eventLoop: self.loop)
        self.dialer.dial(host: upstream.origin.host, port: upstream.origin.port, lookup: lookup) { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(box.value) }
        } then: { result in
            switch result {
            case .success((let channel, let timing)):
                upstream.opened(channel, timing: timing)
                then(.success(upstream))
            case .failure(let error):
                then(.failure(error))
            }
        }
    }

    private func dial(_ upstream: UpstreamHandler, _ handler: TLSHandler, _ lookup: NameLookup?, then: @escaping (Outcome) -> Void) {
        let handshake = UpstreamHandshake(upstream, handler)
        let box = NIOLoopBound((handler, upstream), eventLoop: self.loop)
        self.dialer.dial(host: upstream.origin.host, port: upstream.origin.port, lookup: lookup) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers([box.value.0, box.value.1] as [any ChannelHandler])
            }
        } then: { result in
            switch result {
            case .success((let channel, let timing)):
                upstream.opened(channel, timing: timing)
                handshake.wait(self.limits.tlsHandshake, on: self.loop) { result in
                    switch result {
                    case .success: then(.success(upstream))
                    case .failure(let failure): then(.failure(.failed(self.failure(failure, upstream.route))))
                    }
                }
            case .failure(let error):
                handshake.forget()
                then(.failure(error))
            }
        }
    }

    private func failure(_ failure: TLSFailure, _ route: UpstreamRoute) -> Failure {
        let problem = TLSProblem(leg: .upstream, host: route.verifiedHost, port: route.origin.port, failure: failure)
        self.diagnosis.report(problem)
        return Failure(kind: .tls, message: problem.description)
    }
}
