internal import Foundation
internal import TapeBytes

/// Carries the cassette of the task into code that loses it: callbacks, queues, detached tasks.
///
///     withEscapedCassette { cassette in
///         queue.async { cassette.yield { session.request(url).response { … } } }
///     }
///
/// While tests use cassettes, a request whose test is not known is refused, so that none goes into another test's cassette. A session that
/// is bound to its test, by `HTTPSession(cassette: .current)`, does not need this.
///
/// - Parameter body: called once, immediately. Its argument may be kept, and used until the cassette is closed.
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

        /// Runs the closure with the task's cassette. Returns nothing, so that the closure's last expression may be a request.
        public func yield(_ operation: () throws -> Void) rethrows {
            try Cassette.$current.withValue(self.cassette, operation: operation)
        }

        /// Runs the closure with the task's cassette.
        @discardableResult
        public func yield<Result>(_ operation: () throws -> Result) rethrows -> Result {
            try Cassette.$current.withValue(self.cassette, operation: operation)
        }

        /// Runs the closure with the task's cassette.
        @discardableResult
        public func yield<Result>(
            isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Result
        ) async rethrows -> Result {
            try await Cassette.$current.withValue(self.cassette, operation: operation, isolation: isolation)
        }
    }
}

/// The tests of this process that are using a cassette.
///
/// While there is one, a request whose test is unknown is refused. It came from a detached task, a queue or a callback, and would reach
/// the network or another test's cassette while its own test stays green. Knows no test framework.
package final class CassetteScopes: Sendable {
    package static let shared = CassetteScopes()

    /// A test's use of a cassette, from `enter` to `leave`.
    package struct Scope: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry: Sendable {
        weak var cassette: Cassette?
        /// The name of the test, for messages.
        var name: String
        /// The uses by the same test that were already open when this one began.
        var outer: Set<Scope>
        var allowsEscapes: Bool
        var isOutside: @Sendable () -> Bool
        var refused: [String] = []
        /// Refused requests that were attributed to other tests, although this test could have made them.
        var doubtful: [String] = []
    }

    private struct State: Sendable {
        var entries: [Scope: Entry] = [:]
        var next = 0

        func scope(of cassette: Cassette) -> Scope? { self.entries.first { $0.value.cassette === cassette }?.key }
    }

    /// How many requests a test's problem names.
    private static let limit = 20
    /// How many tests a message names.
    private static let nameLimit = 5

    private let state = Guarded(State())

    package init() {}

    /// - Parameters:
    ///   - name: the test's name, for messages.
    ///   - outer: the cassette of the calling task, which belongs to the same test.
    ///   - allowsEscapes: requests without a cassette may use the network, if every test that uses one allows it.
    ///   - isOutside: whether the calling task is known to belong to a test without a cassette, which is not restricted.
    package func enter(
        _ cassette: Cassette, of name: String, within outer: Cassette? = nil, allowsEscapes: Bool,
        isOutside: @escaping @Sendable () -> Bool
    ) -> Scope {
        #if !canImport(FoundationNetworking)
        SharedURLSession.testBegins()
        #endif
        return self.state.withLock { state in
            defer { state.next += 1 }
            var around: Set<Scope> = []
            if let outer = outer.flatMap({ state.scope(of: $0) }) { around = (state.entries[outer]?.outer ?? []).union([outer]) }
            let scope = Scope(number: state.next)
            state.entries[scope] = Entry(
                cassette: cassette, name: name, outer: around, allowsEscapes: allowsEscapes, isOutside: isOutside)
            return scope
        }
    }

    /// The requests that were refused so far and that fail other tests, although this one could have made them.
    package func doubtful(_ scope: Scope) -> [String] { self.state.withLock { $0.entries[scope]?.doubtful ?? [] } }

    /// - Returns: the requests that were refused meanwhile and that fail the test, such as `GET "http://a/"`.
    package func leave(_ scope: Scope) -> [String] {
        #if !canImport(FoundationNetworking)
        SharedURLSession.testEnds()
        #endif
        return self.state.withLock { $0.entries.removeValue(forKey: scope) }?.refused ?? []
    }

    /// Whether the calling task's requests are refused if their test is unknown.
    var refuses: Bool {
        let entries = self.state.withLock { Array($0.entries.values) }
        return entries.contains { !$0.allowsEscapes } && !entries.contains { $0.isOutside() }
    }

    /// Whether the calling task is known to belong to a test without a cassette.
    var isOutside: Bool {
        let entries = self.state.withLock { Array($0.entries.values) }
        return entries.contains { $0.isOutside() }
    }

    func scope(of cassette: Cassette) -> Scope? { self.state.withLock { $0.scope(of: cassette) } }

    /// Whether the cassettes belong to two different running tests.
    func areOfDifferentTests(_ one: Cassette, _ other: Cassette) -> Bool {
        guard one !== other else { return false }
        return self.state.withLock { state in
            guard let first = state.scope(of: one), let second = state.scope(of: other) else { return false }
            return state.entries[first]?.outer.contains(second) == false && state.entries[second]?.outer.contains(first) == false
        }
    }

    // MARK: Sessions

    /// The knowledge about the test of a session at the time of its creation.
    struct Birth: Sendable {
        /// The cassette use of the task that created the session.
        var scope: Scope?
        /// The name of the test, for messages.
        var name: String?
        /// Whether no other test was using a cassette.
        fileprivate var isAlone: Bool
        /// How many uses had begun.
        fileprivate var begun: Int
    }

    /// - Parameter cassette: the cassette of the task that creates the session.
    func birth(under cassette: Cassette?) -> Birth {
        self.state.withLock { state in
            let scope = cassette.flatMap { state.scope(of: $0) }
            let own = scope.flatMap { state.entries[$0] }
            let isAlone = state.entries.keys.allSatisfy { $0 == scope || own?.outer.contains($0) == true }
            return Birth(scope: scope, name: own?.name, isAlone: isAlone, begun: state.next)
        }
    }

    /// Whether no other test has used a cassette since a session was created, so that all its requests come from one test.
    func isAlone(since birth: Birth) -> Bool { birth.isAlone && self.state.withLock { $0.next } == birth.begun }

    // MARK: Refusals

    /// Fails the running tests that could have made a refused request.
    ///
    /// These are the tests that are known to use the session, and those whose cassette has a similar request that was not made yet. If
    /// nothing is known, any test that does not allow such requests could have made it. A test that records could have made any request.
    ///
    /// - Parameters:
    ///   - known: the tests that are known to use the session.
    ///   - isCertain: whether no other test can have made the request.
    /// - Returns: the names of those tests.
    fileprivate func fail(for request: TransportRequest, named text: String, known: Set<Scope>, isCertain: Bool) -> [String] {
        let strict = self.state.withLock { $0.entries.filter { !$0.value.allowsEscapes || (isCertain && known.contains($0.key)) } }
        // Outside the lock, because a cassette has a lock of its own.
        var suspects = strict.filter { known.contains($0.key) }
        if !isCertain {
            let isUnknown = suspects.isEmpty
            let expecting = strict.filter { $0.value.cassette?.lacks(request) == true }
            suspects.merge(expecting) { one, _ in one }
            if isUnknown, suspects.isEmpty {
                suspects = strict
            } else if isUnknown {
                suspects.merge(strict.filter { $0.value.cassette?.isRecording == true }) { one, _ in one }
            }
        }
        let failed = suspects.sorted { $0.key.number < $1.key.number }
        let innocent = isCertain ? [] : strict.keys.filter { suspects[$0] == nil }
        self.state.withLock { state in
            for (scope, _) in failed where (state.entries[scope]?.refused.count ?? Self.limit) < Self.limit {
                let others = failed.filter { $0.key != scope }.map(\.value.name)
                state.entries[scope]?.refused.append(others.isEmpty ? text : "\(text), or a request of \(Self.list(others))")
            }
            for scope in innocent where (state.entries[scope]?.doubtful.count ?? Self.limit) < Self.limit {
                state.entries[scope]?.doubtful.append(text)
            }
        }
        return failed.map(\.value.name)
    }

    fileprivate static func list(_ names: [String]) -> String {
        let shown = names.prefix(self.nameLimit).map { "\"\($0)\"" }
        if names.count > self.nameLimit { return "\(shown.joined(separator: ", ")) or \(names.count - self.nameLimit) others" }
        guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
        return "\(shown.dropLast().joined(separator: ", ")) or \(last)"
    }
}

/// Refuses every request: tests use cassettes, and the test of this request is unknown, or is not the test of its session.
struct EscapedTransport: Transport, WebSocketTransport {
    enum Reason: Sendable {
        /// The request has no cassette.
        case unknown
        /// The task has the cassette of a test that has ended.
        case late
        /// The session was created in that test, and other tests with a cassette have run since.
        case shared(madeIn: String?)
        /// The session is bound to the cassette of a test, and the task belongs to another one.
        case foreign
    }

    let scopes: CassetteScopes
    let reason: Reason
    /// The tests that are known to use the session; for `foreign`, the test of the task.
    var known: Set<CassetteScopes.Scope> = []

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        _ = receive(.failed(self.failure(of: request)))
        return FinishedTask.shared
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection { throw self.failure(of: request) }

    private func failure(of request: TransportRequest) -> TransportFailure {
        let name = "\(request.method) \"\(LogURL.text(request.url))\""
        let isForeign = if case .foreign = self.reason { true } else { false }
        let tests = self.scopes.fail(for: request, named: name, known: self.known, isCertain: isForeign)
        let failed =
            tests.isEmpty ? "" : " It fails \(tests.count == 1 ? "" : "the tests that could have made it: ")\(CassetteScopes.list(tests))."
        return TransportFailure(.unsupported, "\(name) was refused: \(self.cause).\(failed) \(Self.advice)")
    }

    private var cause: String {
        switch self.reason {
        case .unknown: "it comes from a task or queue without a cassette while a test uses one"
        case .late: "it comes from a task that a test before this one started"
        case .shared(let test):
            "it comes from a task or queue without a cassette, and its HTTPSession was made in \(test.map { "\"\($0)\"" } ?? "a task with one"), but other tests with a cassette have run since"
        case .foreign: "it comes from a task of one test, and its HTTPSession is bound to the cassette of another"
        }
    }

    private static let advice =
        "Bind the session to its test with HTTPSession(configuration:, cassette: .current), carry the cassette there with withEscapedCassette, or use HTTPSession(transport: LiveTransport.shared) for what may use the network."
}

extension Cassette {
    /// Whether the recording has a request with this method and path that was not made yet.
    ///
    /// Hosts and queries differ between runs, and rules may ignore them.
    fileprivate func lacks(_ request: TransportRequest) -> Bool {
        guard self.player != nil else { return false }
        let text = Self.path(of: "\(request.method) \(RequestDecider.url(of: request))")
        return self.report.exchanges.contains { $0.answers == 0 && Self.path(of: $0.request) == text }
    }

    /// "GET /pets" of "GET http://a.test/pets?x=1".
    private static func path(of request: String) -> String {
        let parts = request.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let authority = parts[1].range(of: "://")?.upperBound else { return request }
        let path = parts[1][authority...].drop { !"/?#".contains($0) }.prefix { !"?#".contains($0) }
        return "\(parts[0]) \(path.isEmpty ? "/" : path)"
    }

    fileprivate var isRecording: Bool { self.recording != nil }
}

/// The knowledge about the test of a session that was given neither a transport nor a cassette.
///
/// That a session was created in a test is weak evidence: a singleton is created in the test that uses it first, and others use it later.
/// So it counts only while no other test with a cassette has run since (docs/decisions/0084-whose-request.md).
struct SessionOrigin: Sendable {
    private struct State: Sendable {
        weak var cassette: Cassette?
        /// The tests whose tasks have made requests with the session.
        var users: Set<CassetteScopes.Scope> = []
        /// A test other than the one that created the session has used it.
        var isShared = false
    }

    enum Evidence: Sendable {
        case none
        /// The session was created under this cassette, which is open, and no other test can have used it.
        case cassette(Cassette)
        /// The session was created in a test, but other tests have run since.
        case shared
        /// The session was created under an open cassette that belongs to no test, but other tests have run since.
        case sharedWithoutTest
    }

    let birth: CassetteScopes.Birth
    private let state: Guarded<State>

    /// - Parameter cassette: the cassette of the task that creates the session.
    init(_ cassette: Cassette?, among scopes: CassetteScopes) {
        self.birth = scopes.birth(under: cassette)
        self.state = Guarded(State(cassette: cassette))
    }

    /// A task with this open cassette has made a request.
    func used(with cassette: Cassette, among scopes: CassetteScopes) {
        let isNew = self.state.withLock { state in
            let isOwn = state.cassette === cassette
            // The session is shared between tests, so it no longer matters where it was created.
            if !isOwn { (state.cassette, state.isShared) = (nil, true) }
            return !isOwn
        }
        guard isNew, let scope = scopes.scope(of: cassette) else { return }
        self.state.withLock { _ = $0.users.insert(scope) }
    }

    func evidence(among scopes: CassetteScopes) -> Evidence {
        if let cassette = self.state.withLock({ $0.cassette }), cassette.isOpen {
            if scopes.isAlone(since: self.birth) { return .cassette(cassette) }
            return self.birth.scope == nil ? .sharedWithoutTest : .shared
        }
        // It was created in a test that has ended.
        return self.birth.scope != nil ? .shared : .none
    }

    /// The tests that are known to use the session.
    var known: Set<CassetteScopes.Scope> {
        self.state.withLock { state in
            let maker = state.isShared ? nil : self.birth.scope
            return state.users.union([maker].compactMap { $0 })
        }
    }
}
