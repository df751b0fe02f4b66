internal import TapeBytes

/// Carries the cassette of the task into code that loses it: callbacks, queues, detached tasks.
///
///     withEscapedCassette { cassette in
///         queue.async { cassette.yield { session.request(url).response { … } } }
///     }
///
/// While tests use cassettes, a request that finds none is refused, so that none leaves its test unseen. A session remembers the cassette
/// that it was made under; only code whose sessions were made elsewhere needs this.
///
/// - Parameter body: called once, at once. What it is given may be kept, and used until the cassette is closed.
@discardableResult
public func withEscapedCassette<Result>(_ body: (Cassette.Escaped) throws -> Result) rethrows -> Result {
    try body(Cassette.Escaped(cassette: Cassette.current))
}

/// Carries the cassette of the task into code that loses it: callbacks, queues, detached tasks.
@discardableResult
public func withEscapedCassette<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Cassette.Escaped) async throws -> Result
) async rethrows -> Result {
    try await body(Cassette.Escaped(cassette: Cassette.current))
}

extension Cassette {
    /// The cassette of the task that called `withEscapedCassette`.
    public struct Escaped: Sendable {
        fileprivate let cassette: Cassette?

        /// Runs the closure with the cassette, as the task would have. A request that is its last expression is not its result.
        public func yield(_ operation: () throws -> Void) rethrows {
            try Cassette.$current.withValue(self.cassette, operation: operation)
        }

        /// Runs the closure with the cassette, as the task would have.
        @discardableResult
        public func yield<Result>(_ operation: () throws -> Result) rethrows -> Result {
            try Cassette.$current.withValue(self.cassette, operation: operation)
        }

        /// Runs the closure with the cassette, as the task would have.
        @discardableResult
        public func yield<Result>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Result
        ) async rethrows -> Result {
            try await Cassette.$current.withValue(self.cassette, operation: operation, isolation: isolation)
        }
    }
}

/// The tests of this process that use a cassette now.
///
/// While there is one, a request without a cassette is refused: it came from a detached task, a queue or a callback, and would reach the
/// network while its test stays green. Knows no test framework.
package final class CassetteScopes: Sendable {
    package static let shared = CassetteScopes()

    /// A test's use of a cassette, from `enter` to `leave`.
    package struct Scope: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry: Sendable {
        var allowsEscapes: Bool
        var isOutside: @Sendable () -> Bool
        var escaped: [String] = []
    }

    private struct State: Sendable {
        var entries: [Int: Entry] = [:]
        var next = 0
    }

    /// The requests that are named in a test's problem.
    private static let limit = 20

    private let state = Guarded(State())

    package init() {}

    /// - Parameters:
    ///   - allowsEscapes: requests without a cassette may use the network, if every test that uses one allows it.
    ///   - isOutside: whether the calling task is known to belong to a test without a cassette, which may do as it likes.
    package func enter(allowsEscapes: Bool, isOutside: @escaping @Sendable () -> Bool) -> Scope {
        #if !canImport(FoundationNetworking)
        SharedURLSession.testBegins()
        #endif
        return self.state.withLock { state in
            defer { state.next += 1 }
            state.entries[state.next] = Entry(allowsEscapes: allowsEscapes, isOutside: isOutside)
            return Scope(number: state.next)
        }
    }

    /// - Returns: the requests that were refused meanwhile, such as `GET "http://a/"`. Several tests at once get each of them: which one it
    ///   came from is not known.
    package func leave(_ scope: Scope) -> [String] {
        #if !canImport(FoundationNetworking)
        SharedURLSession.testEnds()
        #endif
        return self.state.withLock { $0.entries.removeValue(forKey: scope.number) }?.escaped ?? []
    }

    /// Whether a request of the calling task that has no cassette is refused.
    var refuses: Bool {
        let entries = self.state.withLock { Array($0.entries.values) }
        return entries.contains { !$0.allowsEscapes } && !entries.contains { $0.isOutside() }
    }

    /// Counts a refused request for the tests that are running.
    fileprivate func add(_ request: String) {
        self.state.withLock { state in
            for number in state.entries.keys where (state.entries[number]?.escaped.count ?? 0) < Self.limit {
                state.entries[number]?.escaped.append(request)
            }
        }
    }
}

/// Refuses each request: a test uses a cassette, and this request has none.
struct EscapedTransport: Transport, WebSocketTransport {
    let scopes: CassetteScopes
    /// The task has the cassette of a test that has ended.
    let isLate: Bool

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        _ = receive(.failed(self.failure(of: request)))
        return FinishedTask.shared
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection { throw self.failure(of: request) }

    private func failure(of request: TransportRequest) -> TransportFailure {
        let name = "\(request.method) \"\(LogURL.text(request.url))\""
        self.scopes.add(name)
        let place = self.isLate ? "comes from a task that a test before this one started" : "comes from a task or queue without a cassette"
        let message =
            "\(name) was refused: it \(place) while a test uses one. Make its HTTPSession in the test, carry the cassette there with withEscapedCassette, or use HTTPSession(transport: LiveTransport.shared) for what may use the network."
        return TransportFailure(.unsupported, message)
    }
}

/// The cassette of the task that made a session, for requests of it that are made elsewhere.
struct RememberedCassette: Sendable {
    private struct State: Sendable {
        weak var cassette: Cassette?
    }

    private let state: Guarded<State>

    init(_ cassette: Cassette?) { self.state = Guarded(State(cassette: cassette)) }

    /// The cassette for a request of a task: the task's own while it is open, or else the remembered one while that is. A closed one only
    /// if there is no other.
    ///
    /// A session that is used with another cassette is shared between tests, and remembers none from then on.
    func cassette(of current: Cassette?) -> Cassette? {
        self.state.withLock { state in
            if let current, current.isOpen {
                if state.cassette !== current { state.cassette = nil }
                return current
            }
            return state.cassette.flatMap { $0.isOpen ? $0 : nil } ?? current
        }
    }
}
