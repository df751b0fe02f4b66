import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

/// The destination of requests of a session without a transport. The scopes are private, so concurrent tests are not affected.
@Suite struct CassetteScopesTests {
    private let folder: TemporaryFolder
    private let scopes = CassetteScopes()

    init() throws { self.folder = try TemporaryFolder() }

    private func cassette(_ name: String = "a.json", mode: RecordMode = .all) throws -> Cassette {
        try Cassette(self.folder.file(name), mode: mode)
    }

    /// - Parameter cassette: one that no session knows, unless a test needs it.
    private func enter(
        _ cassette: Cassette? = nil, of name: String = "a test", within outer: Cassette? = nil, allowsEscapes: Bool = false,
        isOutside: Bool = false
    ) throws -> CassetteScopes.Scope {
        self.scopes.enter(
            try cassette ?? self.cassette("\(UUID()).json"), of: name, within: outer, allowsEscapes: allowsEscapes
        ) { isOutside }
    }

    private func core(madeUnder cassette: Cassette? = nil, boundTo bound: Cassette? = nil) -> SessionCore {
        Cassette.$current.withValue(cassette) {
            SessionCore(HTTPSession.Configuration(), cassette: bound, among: self.scopes)
        }
    }

    private func transport(of core: SessionCore, in current: Cassette? = nil) -> any Transport {
        Cassette.$current.withValue(current) { core.destination().transport }
    }

    private func cassette(of core: SessionCore, in current: Cassette? = nil) -> Cassette? {
        (self.transport(of: core, in: current) as? RecordingTransport)?.cassette
    }

    /// The message with which a session refuses a request.
    private func refusal(of core: SessionCore, in current: Cassette? = nil, url: String = "http://a/1") async -> String? {
        guard let transport = self.transport(of: core, in: current) as? EscapedTransport else { return nil }
        return await HTTPSession(transport: transport).request(url).serializingString().response.error?.message
    }

    // MARK: Sessions created in a test

    @Test func sessionOfALoneTestHasItsCassetteOnQueues() throws {
        let own = try self.cassette()
        let scope = try self.enter(own)
        let core = self.core(madeUnder: own)
        #expect(self.cassette(of: core) === own)
        _ = self.scopes.leave(scope)
        #expect(self.cassette(of: core) === own, "a cassette that is open without a test is still the session's")
    }

    @Test func handlersHaveTheCassetteOfTheRequest() throws {
        let own = try self.cassette()
        let core = Cassette.$current.withValue(own) { SessionCore(HTTPSession.Configuration(), among: self.scopes) }
        let request = HTTPSession.Request(core: core, source: .plain("http://a/", .get, nil, nil), interceptor: nil, sink: .memory)
        #expect(request.withItsCassette { Cassette.current } === own)
    }

    /// A singleton is created by the first test that uses it: another test used it from a queue, and recorded into the first test's
    /// cassette.
    @Test func sessionOfATestIsRefusedOnceAnotherTestHasBegun() async throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        let first = try self.enter(own, of: "first")
        let core = self.core(madeUnder: own)
        let second = try self.enter(other, of: "second")
        let message = await self.refusal(of: core)
        #expect(message?.contains("its HTTPSession was made in \"first\", but other tests with a cassette have run since") == true)
        #expect(message?.contains("HTTPSession(configuration:, cassette: .current)") == true)
        #expect(self.cassette(of: core, in: own) === own, "the task is evidence enough")
        _ = self.scopes.leave(second)
        #expect(await self.refusal(of: core) != nil, "a task of the other test may still run")
        #expect(self.scopes.leave(first).count == 2)
    }

    @Test func sessionCreatedDuringAnotherTestIsRefused() async throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        let second = try self.enter(other, of: "second")
        _ = try self.enter(own, of: "first")
        let core = self.core(madeUnder: own)
        #expect(await self.refusal(of: core) != nil)
        _ = self.scopes.leave(second)
        #expect(await self.refusal(of: core) != nil)
    }

    /// `withCassette` in a test that has a cassette counts as the same test.
    @Test func cassetteAroundASessionsOwnIsOfTheSameTest() async throws {
        let (outer, inner) = (try self.cassette(), try self.cassette("b.json"))
        _ = try self.enter(outer)
        let before = self.core(madeUnder: outer)
        _ = try self.enter(inner, within: outer)
        #expect(self.cassette(of: self.core(madeUnder: inner)) === inner)
        #expect(self.transport(of: before) is EscapedTransport, "it could be for either")
        let bound = self.core(boundTo: outer)
        #expect(self.cassette(of: bound, in: inner) === outer, "as the test says")
    }

    @Test func sessionOfATestWithoutACassetteUsesTheNetwork() throws {
        let own = try self.cassette()
        let core = self.core(madeUnder: own)
        _ = try self.enter(own, isOutside: true)
        #expect(self.transport(of: core) is LiveTransport, "the singleton was made in another test")
    }

    @Test func theTasksCassetteComesFirstAndEndsTheMemory() throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        let core = self.core(madeUnder: own)
        #expect(self.cassette(of: core, in: own) === own)
        #expect(self.cassette(of: core) === own)
        #expect(self.cassette(of: core, in: other) === other)
        _ = try self.enter()
        #expect(self.transport(of: core) is EscapedTransport, "it is shared between tests")
    }

    /// A cassette that code opens itself belongs to no test: its session must not fall back to the network.
    @Test func sessionOfACassetteOfNoTestIsRefusedOnceATestHasRun() async throws {
        let own = try self.cassette()
        let core = self.core(madeUnder: own)
        #expect(self.cassette(of: core) === own)
        let scope = try self.enter()
        #expect(await self.refusal(of: core)?.contains("its HTTPSession was made in a task with one, but other tests") == true)
        _ = self.scopes.leave(scope)
        #expect(await self.refusal(of: core) != nil)
        #expect(self.cassette(of: core, in: own) === own)
    }

    @Test func sessionThatWasMadeOutsideOfTestsIsOfNoTest() async throws {
        let own = try self.cassette()
        let core = self.core()
        let scope = try self.enter(own, of: "first")
        #expect(self.cassette(of: core, in: own) === own)
        #expect(await self.refusal(of: core)?.contains("comes from a task or queue without a cassette while a test uses one") == true)
        _ = self.scopes.leave(scope)
        #expect(self.transport(of: core) is LiveTransport)
    }

    // MARK: Sessions bound to a test

    @Test func boundSessionHasItsCassetteOnQueuesDuringOtherTests() throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        _ = try self.enter(own)
        _ = try self.enter(other)
        let core = self.core(boundTo: own)
        #expect(self.cassette(of: core) === own)
        let request = HTTPSession.Request(core: core, source: .plain("http://a/", .get, nil, nil), interceptor: nil, sink: .memory)
        #expect(request.withItsCassette { Cassette.current } === own, "its handlers have it too")
    }

    @Test func boundSessionRefusesATaskOfAnotherTestAndFailsThatAlone() async throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        let (first, second) = (try self.enter(own, of: "first"), try self.enter(other, of: "second"))
        let third = try self.enter()
        let message = await self.refusal(of: self.core(boundTo: own), in: other)
        #expect(message?.contains("its HTTPSession is bound to the cassette of another. It fails \"second\".") == true)
        #expect([first, second, third].map { self.scopes.leave($0).count } == [0, 1, 0])
    }

    /// A cassette that the test opened itself belongs to no other test.
    @Test func sessionWithACassetteOfNoTestIsRefusedNothing() throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        _ = try self.enter(other)
        #expect(self.cassette(of: self.core(boundTo: own), in: other) === own)
    }

    // MARK: The tests that a refused request fails

    /// A single request used to fail 15 of 20 tests, 14 of which were unrelated to it.
    @Test func refusedRequestFailsTheTestThatMadeItsSession() async throws {
        let own = try self.cassette()
        let others = try (0..<20).map { try self.enter(of: "other \($0)") }
        let scope = try self.enter(own, of: "first")
        let message = await self.refusal(of: self.core(madeUnder: own))
        #expect(message?.contains("It fails \"first\".") == true)
        #expect(others.allSatisfy { self.scopes.doubtful($0) == ["GET \"http://a/1\""] }, "one that made no request says so")
        #expect(others.allSatisfy { self.scopes.leave($0).isEmpty })
        #expect(self.scopes.leave(scope) == ["GET \"http://a/1\""])
    }

    @Test func requestOfASharedSessionFailsTheTestsThatHaveUsedIt() async throws {
        let (one, two, three) = (try self.cassette(), try self.cassette("b.json"), try self.cassette("c.json"))
        let scopes = [
            try self.enter(one, of: "one"), try self.enter(two, of: "two"), try self.enter(three, of: "three"), try self.enter(),
        ]
        let core = self.core(madeUnder: one)
        for cassette in [two, three] { _ = self.transport(of: core, in: cassette) }
        #expect(await self.refusal(of: core)?.contains("could have made it: \"two\" or \"three\"") == true)
        #expect(
            scopes.map { self.scopes.leave($0) } == [
                [], ["GET \"http://a/1\", or a request of \"three\""], ["GET \"http://a/1\", or a request of \"two\""], [],
            ])
    }

    /// A session that was created on a queue has no known test.
    @Test func requestOfAnUnknownTestFailsTheTestsWhoseCassettesLackIt() async throws {
        func replaying(_ name: String, page: Int) throws -> Cassette {
            try ReplayFixtures.cassette(page: page).write(toFile: self.folder.file(name), atomically: true, encoding: .utf8)
            return try self.cassette(name, mode: .none)
        }
        let (one, two) = (try replaying("1.json", page: 1), try replaying("2.json", page: 2))
        let three = try self.cassette("3.json")
        let scopes = [
            try self.enter(one, of: "one"), try self.enter(two, of: "two"), try self.enter(three, of: "records"),
            try self.enter(of: "allows", allowsEscapes: true),
        ]
        #expect(await self.refusal(of: self.core(), url: "http://pets.test:8080/2?now=1") != nil, "rules may ignore host and query")
        #expect(scopes.map { self.scopes.leave($0).count } == [0, 1, 1, 0], "a test that records could have made any")
        #expect(three.isOpen)
    }

    @Test func requestThatNothingIsKnownAboutFailsAllTestsThatDoNotAllowIt() async throws {
        let scopes = [try self.enter(of: "one"), try self.enter(of: "two"), try self.enter(of: "three", allowsEscapes: true)]
        #expect(await self.refusal(of: self.core())?.contains("\"one\" or \"two\"") == true)
        #expect(scopes.map { self.scopes.leave($0).count } == [1, 1, 0])
    }

    /// A singleton's worker keeps the cassette of the first test forever.
    @Test func aTaskOfAnEarlierTestIsRefusedWhileATestRuns() async throws {
        let first = try self.cassette()
        try first.abandon()
        let scope = try self.enter(of: "second")
        #expect(await self.refusal(of: self.core(), in: first)?.contains("comes from a task that a test before this one started") == true)
        // Outside of tests, a closed cassette reports that it is closed.
        _ = self.scopes.leave(scope)
        #expect(self.cassette(of: self.core(), in: first) === first)
    }

    @Test func aReleasedCassetteIsForgotten() throws {
        var own: Cassette? = try self.cassette()
        let core = self.core(madeUnder: own)
        own = nil
        #expect(self.transport(of: core) is LiveTransport)
    }

    @Test(arguments: [(false, false, true), (true, false, false), (false, true, false)])
    func withoutACassetteATestIsLeftOnlyIfItAllowsThat(allows: Bool, isOutside: Bool, isRefused: Bool) throws {
        #expect(self.transport(of: self.core()) is LiveTransport, "no test uses a cassette")
        let scope = try self.enter(allowsEscapes: allows, isOutside: isOutside)
        #expect((self.transport(of: self.core()) is EscapedTransport) == isRefused)
        _ = self.scopes.leave(scope)
        #expect(self.transport(of: self.core()) is LiveTransport)
    }

    @Test func refusalsShowNoSecretsAndAreAsManyAsAPersonReads() async throws {
        let scope = try self.enter()
        let session = HTTPSession(transport: EscapedTransport(scopes: self.scopes, reason: .unknown))
        let url = "http://a/pets?access_token=0123456789abcdef"
        let response = await session.request(url, method: .post).serializingString().response
        #expect(response.error?.message.contains("withEscapedCassette") == true)
        #expect(response.error?.message.contains("0123456789abcdef") == false)
        for _ in 0..<30 { _ = await session.request("http://a/").serializingString().response }
        let refused = self.scopes.leave(scope)
        #expect(refused.first?.hasPrefix("POST \"http://a/pets") == true)
        #expect(refused.count == 20)
        #expect(self.scopes.leave(scope).isEmpty)
    }

    @Test func theCassetteIsCarriedIntoACallback() async throws {
        let own = try self.cassette()
        let escaped = Cassette.$current.withValue(own) { withEscapedCassette { $0 } }
        let seen = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: [Cassette.current === own, escaped.yield { Cassette.current === own }])
            }
        }
        #expect(seen == [false, true])
        #expect(await escaped.yield { await Task { Cassette.current === own }.value })
        #expect(withEscapedCassette { $0.yield { Cassette.current } } == nil)
    }
}

private enum ReplayFixtures {
    /// A cassette with one exchange: "http://pets.test/1" for page 1.
    static func cassette(page: Int) -> String {
        """
        {
        "wiretape": 1,
        "recorder": "wiretape 0.1.0",
        "interactions": [
        {
          "id": 1, "started": "2026-11-21T04:19:28.123451Z",
          "request": { "method": "GET", "url": "http://pets.test/\(page)", "version": "HTTP/1.1", "headers": ["Host: pets.test"] },
          "response": {
            "status": 200, "reason": "OK", "version": "HTTP/1.1",
            "headers": ["Content-Type: text/plain", "Content-Length: 1"], "body": { "size": 1, "text": "\(page)" }
          }
        }
        ]
        }

        """
    }
}
