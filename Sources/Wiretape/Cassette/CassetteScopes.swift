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
/// While there is one, a request whose test is not known is refused: it came from a detached task, a queue or a callback, and would reach
/// the network, or another test's cassette, while its own test stays green. Knows no test framework.
package final class CassetteScopes: Sendable {
    package static let shared = CassetteScopes()

    /// A test's use of a cassette, from `enter` to `leave`.
    package struct Scope: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry: Sendable {
        weak var cassette: Cassette?
        /// The test, for messages.
        var name: String
        /// The uses of the same test that were open around this one.
        var outer: Set<Scope>
        var allowsEscapes: Bool
        var isOutside: @Sendable () -> Bool
        var refused: [String] = []
        /// Refused requests that other tests are known for, and that could be of this test all the same.
        var doubtful: [String] = []
    }

    private struct State: Sendable {
        var entries: [Scope: Entry] = [:]
        var next = 0

        func scope(of cassette: Cassette) -> Scope? { self.entries.first { $0.value.cassette === cassette }?.key }
    }

    /// The requests that are named in a test's problem.
    private static let limit = 20
    /// The tests that are named in a message.
    private static let nameLimit = 5

    private let state = Guarded(State())

    package init() {}

    /// - Parameters:
    ///   - name: of the test, for messages.
    ///   - outer: the cassette of the calling task, which belongs to the same test.
    ///   - allowsEscapes: requests without a cassette may use the network, if every test that uses one allows it.
    ///   - isOutside: whether the calling task is known to belong to a test without a cassette, which may do as it likes.
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

    /// Whether a request of the calling task whose test is not known is refused.
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

    /// Whether both cassettes are those of running tests, and of different ones.
    func areOfDifferentTests(_ one: Cassette, _ other: Cassette) -> Bool {
        guard one !== other else { return false }
        return self.state.withLock { state in
            guard let first = state.scope(of: one), let second = state.scope(of: other) else { return false }
            return state.entries[first]?.outer.contains(second) == false && state.entries[second]?.outer.contains(first) == false
        }
    }

    // MARK: Sessions

    /// What is known about the test of a session at the moment when it is made.
    struct Birth: Sendable {
        /// The use of the cassette of the task that made it.
        var scope: Scope?
        /// The test, for messages.
        var name: String?
        /// Whether no other test used a cassette.
        fileprivate var isAlone: Bool
        /// How many uses had begun.
        fileprivate var begun: Int
    }

    /// - Parameter cassette: of the task that makes the session.
    func birth(under cassette: Cassette?) -> Birth {
        self.state.withLock { state in
            let scope = cassette.flatMap { state.scope(of: $0) }
            let own = scope.flatMap { state.entries[$0] }
            let isAlone = state.entries.keys.allSatisfy { $0 == scope || own?.outer.contains($0) == true }
            return Birth(scope: scope, name: own?.name, isAlone: isAlone, begun: state.next)
        }
    }

    /// Whether no other test has used a cassette since a session was made, so that its requests can only be those of one test.
    func isAlone(since birth: Birth) -> Bool { birth.isAlone && self.state.withLock { $0.next } == birth.begun }

    // MARK: Refusals

    /// Fails the running tests that could have made a refused request.
    ///
    /// These are the tests that the session is known from, and those whose cassette has a recorded request like it that was not made yet. If
    /// nothing is known, each test that does not allow such requests could have made it; a test that records could have made any.
    ///
    /// - Parameters:
    ///   - known: the tests that the session is known from.
    ///   - isCertain: whether there can be no others.
    /// - Returns: the names of those tests.
    fileprivate func fail(for request: TransportRequest, named text: String, known: Set<Scope>, isCertain: Bool) -> [String] {
        let strict = self.state.withLock { $0.entries.filter { !$0.value.allowsEscapes || (isCertain && known.contains($0.key)) } }
        // Outside of the lock: a cassette has one of its own.
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

/// Refuses each request: tests use cassettes, and the test of this request is not known, or not the one of its session.
struct EscapedTransport: Transport, WebSocketTransport {
    enum Reason: Sendable {
        /// The request has no cassette.
        case unknown
        /// The task has the cassette of a test that has ended.
        case late
        /// The session was made in that test, and other tests with a cassette have run since.
        case shared(madeIn: String?)
        /// The session is bound to the cassette of a test, and the task belongs to another one.
        case foreign
    }

    let scopes: CassetteScopes
    let reason: Reason
    /// The tests that the session is known from; for `foreign`, the test of the task.
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
    /// Whether a recorded request with this method and path was not made yet.
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

/// What is known about the test of a session that was given neither a transport nor a cassette.
///
/// A session that was made in a test is weak evidence: a singleton is made in the test that uses it first, and then used by others. So it
/// counts only while no other test with a cassette has run since (docs/decisions/0084-whose-request.md).
struct SessionOrigin: Sendable {
    private struct State: Sendable {
        weak var cassette: Cassette?
        /// The tests whose tasks have made requests with the session.
        var users: Set<CassetteScopes.Scope> = []
        /// Another test than the one that made the session has used it.
        var isShared = false
    }

    enum Evidence: Sendable {
        case none
        /// The session was made under this cassette, which is open, and no other test can have used it.
        case cassette(Cassette)
        /// The session was made in a test, but other tests have run since.
        case shared
        /// The session was made under an open cassette that is no test's, but other tests have run since.
        case sharedWithoutTest
    }

    let birth: CassetteScopes.Birth
    private let state: Guarded<State>

    /// - Parameter cassette: of the task that makes the session.
    init(_ cassette: Cassette?, among scopes: CassetteScopes) {
        self.birth = scopes.birth(under: cassette)
        self.state = Guarded(State(cassette: cassette))
    }

    /// A task with this open cassette has made a request.
    func used(with cassette: Cassette, among scopes: CassetteScopes) {
        let isNew = self.state.withLock { state in
            let isOwn = state.cassette === cassette
            // Shared between tests: what made it says nothing any more.
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
        // It was made in a test that has ended.
        return self.birth.scope != nil ? .shared : .none
    }

    /// The tests that the session is known from.
    var known: Set<CassetteScopes.Scope> {
        self.state.withLock { state in
            let maker = state.isShared ? nil : self.birth.scope
            return state.users.union([maker].compactMap { $0 })
        }
    }
}
