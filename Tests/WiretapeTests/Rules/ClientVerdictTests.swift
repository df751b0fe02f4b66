import CassettePlayback
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

/// The verdict on clients in a test: our own client with its RetryPolicy, and some without.
@Suite struct ClientVerdictTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func cassette(
        _ fault: TrafficModification.Fault, first count: Int = 1, ofTheRule: Bool = false, verdict: VerdictRule? = .client
    ) throws -> Cassette {
        var settings = Cassette.Settings()
        let selection = TrafficSelection.first(count)
        settings.modify = [.fault(fault, ofTheRule ? selection.ofTheRule : selection), .respond(body: "ok")]
        settings.verdict = verdict
        return try Cassette(self.folder.file("none.json"), mode: .once, settings: settings)
    }

    private func session(_ cassette: Cassette, _ retrier: HTTPSession.RetryPolicy?, clock: ImmediateClock = .immediate) -> HTTPSession {
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = retrier.map { [$0] } ?? []
        configuration.clock = clock
        return HTTPSession(cassette: cassette, configuration: configuration)
    }

    /// What our own client does, as its documentation says.
    private static let policy = HTTPSession.RetryPolicy(backoff: .init(seed: 1))

    @Test(
        arguments: [
            // Idempotent requests are sent again, after growing delays.
            (TrafficModification.Fault.status(503), 2, "GET", []), (.status(500), 1, "PUT", []), (.status(502), 2, "QUERY", []),
            (.status(504), 2, "DELETE", []), (.status(408), 1, "GET", []),
            (.reset(), 2, "GET", []), (.close(), 1, "GET", []), (.refuse, 2, "GET", []), (.dns, 2, "GET", []), (.timeout(), 2, "GET", []),
            (.cut(after: .bytes(1)), 2, "GET", []), (.close(after: .bytes(1)), 1, "GET", []), (.garbage(), 1, "GET", []),
            // It gives up after three attempts, which is not the same as never trying again.
            (.status(503), 100, "GET", []), (.reset(), 100, "GET", []),
            // Retry-After is kept, up to a limit.
            (.status(503, retryAfter: .seconds(2)), 2, "GET", []), (.status(503, retryAfter: .seconds(90)), 1, "GET", []),
            // A stall that ends is waited for, and a certificate does not become valid by trying again.
            (.stall(for: .seconds(600), after: .bytes(1)), 1, "GET", []), (.tls, 1, "GET", []),
            // POST is not sent again: right if it may have had its effect.
            (.reset(), 1, "POST", []), (.status(500), 1, "POST", []), (.status(503), 1, "POST", [.noRetry]),
            // 429 is not among the statuses of the policy.
            (.status(429, retryAfter: .seconds(2)), 1, "GET", [.noRetry]),
            // What stays is not sent again.
            (.status(400), 1, "GET", []), (.status(404), 1, "GET", []),
        ] as [(TrafficModification.Fault, Int, String, [ClientFinding.Kind])])
    func ourOwnClientIsGradedAsItIsDocumented(
        fault: TrafficModification.Fault, count: Int, method: String, kinds: [ClientFinding.Kind]
    ) async throws {
        let cassette = try self.cassette(fault, first: count)
        _ = await self.session(cassette, Self.policy).request("http://a.test/pay", method: HTTPSession.Method(rawValue: method)).validate()
            .serializingData().response
        // A client may be judged before the end if the machine is so slow that no retry can come any more.
        #expect(cassette.clientFindings.allSatisfy { kinds.contains($0.kind) })
        let outcome = try cassette.close()
        #expect(cassette.clientFindings.map(\.kind) == kinds)
        #expect(
            outcome.failures.count == kinds.count && outcome.failures.allSatisfy { $0.hasPrefix("client: \(method) http://a.test/pay ") })
        #expect(outcome.report.checks.filter { $0.name.hasPrefix("client: ") }.map(\.name) == kinds.map { "client: \($0)" })
    }

    @Test(arguments: [
        (TrafficModification.Fault.status(503), [ClientFinding.Kind.noRetry]), (.reset(), [.noRetry]), (.cut(after: .bytes(1)), [.noRetry]),
        (.timeout(), [.noRetry]), (.dns, [.noRetry]), (.truncate(after: .bytes(1)), []), (.corrupt, []), (.slice(), []), (.status(404), []),
        (.tls, []),
    ])
    func aClientWithoutRetriesIsToldSo(fault: TrafficModification.Fault, kinds: [ClientFinding.Kind]) async throws {
        let cassette = try self.cassette(fault)
        _ = await self.session(cassette, nil).request("http://a.test/").serializingData().response
        try cassette.close()
        #expect(cassette.clientFindings.map(\.kind) == kinds)
        #expect(cassette.clientFindings.allSatisfy { !$0.isSure })
    }

    @Test func aRetryOfAPostWithoutAKeyIsNamed() async throws {
        var policy = Self.policy
        policy.retryableMethods = [.post]
        for (headers, kinds) in [([:], [ClientFinding.Kind.unsafeRetry]), (["Idempotency-Key": "1"], [])] as [(HTTPSession.Headers, _)] {
            let cassette = try self.cassette(.status(500))
            _ = await self.session(cassette, policy).request("http://a.test/", method: .post, headers: headers).validate().serializingData()
                .response
            try cassette.close()
            #expect(cassette.clientFindings.map(\.kind) == kinds)
        }
    }

    @Test func retriesWithoutADelayAreNamed() async throws {
        var policy = HTTPSession.RetryPolicy(backoff: .init(scale: .zero))
        policy.retryLimit = 3
        let cassette = try self.cassette(.status(503), first: 3)
        _ = await self.session(cassette, policy).request("http://a.test/").validate().serializingData().response
        try cassette.close()
        #expect(cassette.clientFindings.map(\.kind) == [.noBackoff])
        #expect(cassette.clientFindings.allSatisfy { $0.isSure })
    }

    @Test func aRetryBeforeItsTimeIsNamedByTheSessionsClock() async throws {
        for (wait, kinds) in [(1, [ClientFinding.Kind.retryAfterIgnored]), (2, [])] {
            let cassette = try self.cassette(.status(503, retryAfter: .seconds(2)))
            let clock = ImmediateClock()
            let session = self.session(cassette, nil, clock: clock)
            _ = await session.request("http://a.test/").serializingData().response
            try await clock.sleep(until: clock.now.advanced(by: .seconds(wait)))
            _ = await session.request("http://a.test/").serializingData().response
            try cassette.close()
            #expect(cassette.clientFindings.map(\.kind) == kinds)
        }
    }

    /// Retries of replayed exchanges do not wait, which the verdict would take for a client that does not wait.
    @Test func retriesInAReplayAreJudgedByWhatTheClientWouldWait() async throws {
        let path = self.folder.file("a.json")
        let recording = try Cassette(path, mode: .once)
        let origin = StubTransport([
            .response(503, headers: ["Retry-After": "7"]), .response(503), .response(200, body: Data("answer".utf8)),
        ])
        for _ in 0..<3 { _ = try await RecordingTransport(recording, around: origin).exchange("GET", "http://a.test/") }
        try recording.close()
        for (fault, clockAfter) in [(nil, 7), (TrafficModification.Fault.cut(after: .bytes(0), in: .body), 0)] {
            var settings = Cassette.Settings()
            settings.modify = fault.map { [.fault($0, first: 2)] } ?? []
            settings.verdict = .client
            settings.repetition = .last
            let cassette = try Cassette(path, settings: settings)
            let clock = ImmediateClock()
            var policy = Self.policy
            policy.retryLimit = 5
            _ = await self.session(cassette, policy, clock: clock).request("http://a.test/").validate().serializingData().response
            try cassette.close()
            #expect(cassette.clientFindings == [])
            #expect(clock.now.offset >= .seconds(clockAfter))
        }
    }

    /// The session's own limit is a minute, which is the threshold of the verdict as well.
    @Test func theLimitOfTheSessionIsNoEndlessWait() async throws {
        let cassette = try self.cassette(.timeout())
        let clock = ManualClock()
        var configuration = HTTPSession.Configuration()
        configuration.clock = clock
        let task = HTTPSession(cassette: cassette, configuration: configuration).request("http://a.test/").serializingData()
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        #expect(await task.response.error?.code == .timedOut)
        try cassette.close()
        #expect(cassette.clientFindings == [])
    }

    /// What a cassette lacks is not a fault that passes.
    @Test func aMissIsNotJudged() async throws {
        let path = self.folder.file("a.json")
        let recording = try Cassette(path, mode: .once)
        _ = try await RecordingTransport(recording, around: StubTransport([.json("{}")])).exchange("GET", "http://a.test/")
        try recording.close()
        var settings = Cassette.Settings()
        settings.verdict = .client
        let cassette = try Cassette(path, settings: settings)
        let session = self.session(cassette, nil)
        for _ in 0..<5 { _ = await session.request("http://a.test/other").serializingData().response }
        _ = await session.request("http://a.test/").serializingData().response
        #expect(throws: Never.self) { try cassette.close() }
        #expect(cassette.clientFindings == [])
    }

    @Test func withoutAVerdictNothingIsJudged() async throws {
        let cassette = try self.cassette(.status(503), verdict: nil)
        _ = await self.session(cassette, nil).request("http://a.test/").serializingData().response
        #expect(try cassette.close().failures == [])
        #expect(cassette.clientFindings == [])
    }

    @Test func attemptsThatTheMatchRulesFindEqualAreOneRequest() async throws {
        var settings = Cassette.Settings()
        settings.modify = [.fault(.status(503), first: 1), .respond(body: "ok")]
        settings.verdict = .client
        settings.ignore = ["query:ts"]
        let cassette = try Cassette(self.folder.file("none.json"), mode: .once, settings: settings)
        let clock = ImmediateClock()
        let session = self.session(cassette, nil, clock: clock)
        for number in 0..<2 {
            _ = await session.request("http://a.test/?ts=\(number)").serializingData().response
            try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
        }
        try cassette.close()
        #expect(cassette.clientFindings == [])
    }

    /// Two long uploads are two requests, and one that comes again from another file is not missed.
    @Test func longBodiesAreToldApart() async throws {
        let (one, other) = (Data(repeating: 1, count: 2 << 20), Data(repeating: 2, count: 2 << 20))
        for (bodies, kinds) in [([one, other], [ClientFinding.Kind]()), ([one, one], [.unsafeRetry])] {
            // Rules do not count requests that they cannot look at.
            let cassette = try self.cassette(.status(500), ofTheRule: true)
            let clock = ImmediateClock()
            let session = self.session(cassette, nil, clock: clock)
            for body in bodies {
                _ = await session.upload(body, to: "http://a.test/").serializingData().response
                try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
            }
            try cassette.close()
            #expect(cassette.clientFindings.map(\.kind) == kinds)
        }
        for size in [10, 2 << 20] {
            let cassette = try self.cassette(.status(503), ofTheRule: true)
            let clock = ImmediateClock()
            let session = self.session(cassette, nil, clock: clock)
            for name in ["one", "two"] {
                try self.folder.write([UInt8](repeating: 65, count: size), to: name)
                _ = await session.upload(URL(fileURLWithPath: self.folder.file(name)), to: "http://a.test/", method: .put).serializingData()
                    .response
                try await clock.sleep(until: clock.now.advanced(by: .seconds(1)))
            }
            try cassette.close()
            #expect(cassette.clientFindings == [])
        }
    }

    @Test(arguments: [
        (VerdictRule.client(stallWait: .seconds(-1)), "stallWait"), (.client(backoffRetries: 0), "backoffRetries"),
        (.client(stormCount: 1), "stormCount"),
    ])
    func aThresholdOutOfItsRangeIsAnErrorAtTheOpening(rule: VerdictRule, word: String) {
        let error = #expect(throws: (any Error).self) { try self.cassette(.reset(), verdict: rule) }
        #expect("\(error.map { "\($0)" } ?? "")".contains(word))
    }
}
