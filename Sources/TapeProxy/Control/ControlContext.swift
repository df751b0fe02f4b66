internal import LocalHTTP
internal import NIOCore
internal import NIOPosix

/// What the connections of the control API share: the gate, and the threads that do what is asked for.
///
/// Not Sendable: lives on its event loop.
final class ControlContext {
    /// Connections at once: twice as many as there can be sessions.
    static let connectionLimit = 2 * SessionServer.sessionLimit

    let gate: LocalGate
    let shared: ProxyLoop
    private let service: ControlService
    private let threads: NIOThreadPool
    private let connections = ConnectionRegistry()

    init(gate: LocalGate, shared: ProxyLoop, service: ControlService, threads: NIOThreadPool) {
        self.gate = gate
        self.shared = shared
        self.service = service
        self.threads = threads
    }

    var isFull: Bool { self.connections.count > Self.connectionLimit }

    func add(_ connection: ControlHandler) {
        self.connections.add(connection)
        self.shared.registry.add(connection)
    }

    func remove(_ connection: ControlHandler) {
        self.connections.remove(connection)
        self.shared.registry.remove(connection)
    }

    /// Ends all connections: those that have their answer when it is out.
    func close() {
        for connection in self.connections.all { connection.stop() }
    }

    /// Has a thread do it, and calls back on the loop.
    func answer(_ request: LocalRequest, then: @escaping (LocalAnswer) -> Void) {
        let service = self.service
        let answering = self.threads.runIfActive(eventLoop: self.shared.loop) { service.answer(request) }
        answering.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let answer): then(answer)
            case .failure: then(.stopping)
            }
        }
    }
}
