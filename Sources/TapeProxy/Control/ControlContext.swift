internal import LocalHTTP
internal import NIOCore
internal import NIOPosix

/// State shared by the connections of the control API: the gate, and the threads that perform requests.
///
/// Not Sendable: lives on its event loop.
final class ControlContext {
    /// Connections that have presented the token: twice the number of possible sessions.
    static let connectionLimit = 2 * SessionServer.sessionLimit

    let gate: LocalGate
    let shared: ProxyLoop
    private let service: ControlService
    private let threads: NIOThreadPool
    private var connections: [ObjectIdentifier: ControlHandler] = [:]
    private var seats = ConnectionSeats<ObjectIdentifier>(knownLimit: ControlContext.connectionLimit)

    init(gate: LocalGate, shared: ProxyLoop, service: ControlService, threads: NIOThreadPool) {
        self.gate = gate
        self.shared = shared
        self.service = service
        self.threads = threads
    }

    /// Admits a connection. It may replace an older one that has not presented the token.
    func add(_ connection: ControlHandler) {
        let id = ObjectIdentifier(connection)
        self.connections[id] = connection
        self.shared.registry.add(connection)
        if let oldest = self.seats.arrived(id) { self.connections[oldest]?.abort() }
    }

    /// - Returns: whether there is room for one more connection that has presented the token.
    func admit(_ connection: ControlHandler) -> Bool { self.seats.admitted(ObjectIdentifier(connection)) }

    func remove(_ connection: ControlHandler) {
        let id = ObjectIdentifier(connection)
        self.connections[id] = nil
        self.seats.left(id)
        self.shared.registry.remove(connection)
    }

    /// Ends all connections. Those that are being answered end once the answer has been sent.
    func close() { for connection in self.connections.values { connection.stop() } }

    /// Performs the request on a thread and calls back on the loop.
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
