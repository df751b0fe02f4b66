internal import TapeBytes

/// Collects what happens in an isolation, from any thread.
package final class IsolationLog: Sendable {
    private struct Key: Hashable {
        var transport: IsolationReport.Transport
        var host: String
        var port: UInt16?
        var reason: IsolationReport.Reason
        var program: String?
        var descriptor: Int32?
    }

    private struct State: Sendable {
        var report = IsolationReport()
        var refusals: [Key: Int] = [:]
        var passages: [String: Int] = [:]
        var reached: [String: Int] = [:]
        var questions: [String: Int] = [:]
        var programs: Set<String> = []
        /// The servers of tunnels in which requests were made.
        var requested: Set<String> = []
        /// When the newest connection to each target began.
        var newest: [String: UInt64] = [:]
    }

    /// How many entries of each kind are listed. A program that tries every address would fill the memory.
    package static let limit = 1_000

    private let state = Guarded(State())

    package init() {}

    package var report: IsolationReport { self.state.withLock { $0.report } }

    /// A request began.
    ///
    /// - Parameter server: of its tunnel; nil if it came in none.
    package func requested(isProxied: Bool, of server: (host: String, port: Int)? = nil) {
        self.state.withLock { state in
            if isProxied { state.report.proxied += 1 } else { state.report.seen += 1 }
            guard let server, state.requested.count < Self.limit else { return }
            state.requested.insert(Self.key(server.host, server.port))
        }
    }

    /// Whether a request was made in a tunnel to a server.
    package func hasRequested(host: String, port: UInt16) -> Bool {
        self.state.withLock { $0.requested.contains(Self.key(host, Int(port))) }
    }

    /// A connection to an address was taken.
    ///
    /// - Parameter time: in nanoseconds of a clock that does not jump.
    package func connected(host: String, port: UInt16, at time: UInt64) {
        self.state.withLock { state in
            state.report.connections += 1
        }
        self.arrived(host: host, port: port, at: time)
    }

    /// A connection or tunnel to a target begins to wait for its first bytes, at a time as above.
    package func arrived(host: String, port: UInt16, at time: UInt64) {
        self.state.withLock { state in
            let key = Self.key(host, Int(port))
            guard state.newest[key] != nil || state.newest.count < Self.limit else { return }
            state.newest[key] = max(time, state.newest[key] ?? 0)
        }
    }

    /// When the newest connection to a target began.
    package func newestConnection(host: String, port: UInt16) -> UInt64 {
        self.state.withLock { $0.newest[Self.key(host, Int(port))] ?? 0 }
    }

    /// Whether some connection to a target was one of HTTP or TLS.
    package func hasReached(host: String, port: UInt16) -> Bool { self.state.withLock { $0.reached[Self.key(host, Int(port))] != nil } }

    private static func key(_ host: String, _ port: Int) -> String { "\(self.plain(host)) \(port)" }

    /// `A.test.` equals `a.test` (RFC 1034, 3.1).
    static func plain(_ host: String) -> String { (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased() }

    /// A connection's program is known.
    package func connected(by program: IsolatedProgram?) {
        guard let name = program?.name else { return }
        self.state.withLock { state in
            guard state.programs.count < Self.limit, state.programs.insert(name).inserted else { return }
            state.report.programs.append(name)
        }
    }

    package func refused(
        _ transport: IsolationReport.Transport, host: String, port: UInt16?, _ reason: IsolationReport.Reason, by program: IsolatedProgram?,
        descriptor: Int32? = nil
    ) {
        let key = Key(transport: transport, host: host, port: port, reason: reason, program: program?.path, descriptor: descriptor)
        self.state.withLock { state in
            if let index = state.refusals[key] {
                state.report.refused[index].count += 1
                return
            }
            guard state.refusals.count < Self.limit else {
                state.report.unlisted += 1
                return
            }
            state.refusals[key] = state.report.refused.count
            state.report.refused.append(
                .init(transport: transport, host: host, port: port, reason: reason, program: program, descriptor: descriptor))
        }
    }

    /// A socket was closed that the program would have inherited.
    func closed(_ socket: InheritedSocket) {
        self.refused(socket.transport, host: socket.host, port: socket.port, .inherited, by: nil, descriptor: socket.descriptor)
    }

    /// Packets were refused, but the kernel did not deliver them to be listed.
    func missed(_ count: Int = 1) { self.state.withLock { $0.report.unlisted += count } }

    /// A connection is passed through unread.
    package func passed(host: String, port: UInt16) {
        self.state.withLock { Self.count(host, port, in: &$0.report.passed, &$0.passages) }
    }

    /// A connection continues at the proxy if it is one of HTTP or TLS.
    package func reached(host: String, port: UInt16) {
        self.state.withLock { Self.count(host, port, in: &$0.report.reached, &$0.reached) }
    }

    private static func count(
        _ host: String, _ port: UInt16, in targets: inout [IsolationReport.Target], _ indices: inout [String: Int]
    ) {
        let key = self.key(host, Int(port))
        if let index = indices[key] {
            targets[index].count += 1
            return
        }
        guard indices.count < self.limit else { return }
        indices[key] = targets.count
        targets.append(.init(host: host, port: port))
    }

    func asked(_ name: String, _ kind: NameQuery.Kind) {
        self.state.withLock { state in
            let key = "\(name) \(kind.name)"
            if let index = state.questions[key] {
                state.report.questions[index].count += 1
                return
            }
            guard state.questions.count < Self.limit else { return }
            state.questions[key] = state.report.questions.count
            state.report.questions.append(.init(name: name, kind: kind.name))
        }
    }
}
