import CassetteModel
import CassettePlayback
import CassetteStore
import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
import TrafficRules
@testable import Wiretape

@Suite struct RuledTransportTests {
    private let url = "http://a.test/pets"
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func settings(_ rules: [TrafficModification], seed: UInt64 = 0) -> Cassette.Settings {
        var settings = Cassette.Settings()
        settings.modify = rules
        settings.seed = seed
        return settings
    }

    /// Records one answer, and returns a cassette that replays it with rules.
    private func cassette(
        _ rules: [TrafficModification], of response: StubResponse = .json(#"{"name":"Rex","ok":false}"#)
    ) async throws -> Cassette {
        let path = self.folder.file("a.json")
        let recording = try Cassette(path, mode: .once)
        _ = try await RecordingTransport(recording, around: StubTransport([response])).exchange("GET", self.url)
        _ = try recording.close()
        return try Cassette(path, settings: self.settings(rules))
    }

    private func exchange(_ cassette: Cassette, _ url: String? = nil) async throws -> EventLog {
        try await cassette.transport(around: .shared, clock: .immediate).exchange("GET", url ?? self.url)
    }

    @Test func theFirstAttemptsFailAndTheThirdIsReplayed() async throws {
        let cassette = try await self.cassette([.fault(.status(429, retryAfter: .seconds(2)), first: 2)])
        for _ in 0..<2 {
            let log = try await self.exchange(cassette)
            #expect(log.head?.status == 429 && log.head?.headers["Retry-After"] == "2")
        }
        let log = try await self.exchange(cassette)
        #expect(log.head?.status == 200 && log.body == Data(#"{"name":"Rex","ok":false}"#.utf8))
        let outcome = try cassette.close()
        #expect(outcome.failures.isEmpty)
        #expect(outcome.report.checks.map(\.problems) == [[]])
    }

    @Test func anAnswerIsEdited() async throws {
        let cassette = try await self.cassette([
            .edit(response: .init(set: ["status": "201", "json:/ok": "true", "header:x-by": "rule"], remove: ["json:/name"]))
        ])
        let log = try await self.exchange(cassette)
        #expect(log.head?.status == 201 && log.head?.headers["x-by"] == "rule")
        #expect(log.body == Data(#"{"ok":true}"#.utf8))
        #expect(log.head?.headers["Content-Length"] == "11")
    }

    @Test func anAnswerWithACodingIsEdited() async throws {
        let fields: HTTPSession.Headers = ["Content-Encoding": "gzip", "Content-Length": "63", "Content-Type": "application/json"]
        let cassette = try await self.cassette(
            [.edit(response: .init(set: ["json:/ok": "true"]))], of: .response(headers: fields, body: Data(#"{"ok":false}"#.utf8)))
        let log = try await self.exchange(cassette)
        #expect(log.body == Data(#"{"ok":true}"#.utf8))
        #expect(log.head?.headers["Content-Encoding"] == "gzip")
    }

    @Test(arguments: [
        (TrafficModification.Fault.close(), "failed reset"), (.reset(), "failed reset"), (.refuse, "failed refused"), (.dns, "failed dns"),
        (.tls, "failed tls"), (.timeout(), "failed timeout"),
    ])
    func aFaultBeforeTheAnswerIsAFailure(fault: TrafficModification.Fault, line: String) async throws {
        let cassette = try await self.cassette([.fault(fault)])
        #expect(try await self.exchange(cassette).lines == [line])
    }

    @Test(arguments: [
        (TrafficModification.Fault.cut(after: .bytes(4)), ["head 200", "chunk {\"na", "failed truncated"]),
        (.truncate(after: .bytes(4)), ["head 200", "chunk {\"na", "end"]),
        (.close(after: .bytes(4)), ["head 200", "chunk {\"na", "failed truncated"]),
        (.timeout(after: .bytes(4)), ["head 200", "chunk {\"na", "failed timeout"]),
        (.stall(for: .seconds(3600), after: .bytes(4)), ["head 200", "chunk {\"na", "chunk me\":\"Rex\",\"ok\":false}", "end"]),
    ])
    func aFaultWithinTheAnswerLetsItsBeginningPass(fault: TrafficModification.Fault, lines: [String]) async throws {
        let cassette = try await self.cassette([.fault(fault)])
        #expect(try await self.exchange(cassette).lines.filter { !$0.hasPrefix("metrics") } == lines)
    }

    @Test func requestsThatRulesAnswerAreCounted() async throws {
        let cassette = try await self.cassette([.fault(.status(503), first: 1), .respond(status: 201, when: .url("other"))])
        _ = try await self.exchange(cassette)
        _ = try await self.exchange(cassette, "http://a.test/other")
        let verdict = try cassette.close().report.verdict
        #expect(verdict.answeredByRules == 2 && !verdict.isUnasked && verdict.isAnsweredByRulesAlone)
    }

    @Test func aBrokenAnswerIsReplayedAgainForTheNextAttempt() async throws {
        let cassette = try await self.cassette([.fault(.cut(), first: 1)])
        #expect(try await self.exchange(cassette).lines.last == "failed truncated")
        #expect(try await self.exchange(cassette).lines.last == "end")
        #expect(try cassette.close().report.verdict.misses == 0)
    }

    @Test func eventsAreLostAndComeTwice() async throws {
        let stream = StubResponse.text("data: 1\n\ndata: 2\n\ndata: 3\n\n", type: "text/event-stream")
        let cassette = try await self.cassette([.fault(.drop(after: .events(1)))], of: stream)
        #expect(try await self.exchange(cassette).body == Data("data: 1\n\ndata: 3\n\n".utf8))
    }

    @Test func eachEventIsEdited() async throws {
        let stream = StubResponse.text("event: a\ndata: {\"n\":1}\n\ndata: {\"n\":2}\n\n", type: "text/event-stream")
        let cassette = try await self.cassette([.edit(response: .init(set: ["json:/n": "7"]))], of: stream)
        #expect(try await self.exchange(cassette).body == Data("event: a\ndata: {\"n\":7}\n\ndata: {\"n\":7}\n\n".utf8))
    }

    @Test func rulesAnswerByThemselves() async throws {
        let cassette = try Cassette(
            self.folder.file("none.json"), mode: .once,
            settings: self.settings([
                .respond(json: #"{"method":"{{method}}"}"#, when: .url("/made$")), .block(when: .host("ads\\.test")),
            ]))
        let made = try await self.exchange(cassette, "http://a.test/made")
        #expect(made.head?.status == 200 && made.body == Data(#"{"method":"GET"}"#.utf8))
        #expect(made.head?.headers["content-type"] == "application/json")
        #expect(try await self.exchange(cassette, "http://ads.test/").head?.status == 403)
        // Neither is recorded.
        #expect(try cassette.close().recorded == 0)
    }

    @Test func answersOfRulesAreRecordedIfTheRulesSaySo() async throws {
        try self.folder.write("from the file".utf8, to: "a.txt")
        let path = self.folder.file("r.json")
        let cassette = try Cassette(
            path, mode: .once,
            settings: self.settings([
                .block(records: true, when: .url("/blocked"), name: "no"),
                .mapLocal("a.txt", records: true, when: .url("/file"), name: "file"),
                .respond(body: "made", records: true, when: .url("/made"), name: "made"), .respond(body: "not kept"),
            ]))
        for name in ["blocked", "file", "made", "other"] { _ = try await self.exchange(cassette, "http://a.test/\(name)") }
        let outcome = try cassette.close()
        #expect(outcome.failures.isEmpty)
        try #require(outcome.recorded == 3)
        let recorded = try RecordedCassette(path: path)
        let interactions = try (0..<3).map { try recorded.interaction(at: $0) }
        #expect(interactions.map(\.response?.status) == [403, 200, 200])
        #expect(interactions.map(\.modified) == ["no", "file", "made"].map { Modification(rules: [$0]) })
        // They answer without the rules.
        let replay = try Cassette(path)
        #expect(try await self.exchange(replay, "http://a.test/file").body == Data("from the file".utf8))
        #expect(try await self.exchange(replay, "http://a.test/blocked").head?.status == 403)
    }

    @Test func aFileOfTheCassettesFolderAnswers() async throws {
        try self.folder.write("from the file".utf8, to: "fixtures/a.txt")
        let cassette = try Cassette(
            self.folder.file("none.json"), mode: .once, settings: self.settings([.mapLocal("fixtures/a.txt", when: .url("/a$"))]))
        #expect(try await self.exchange(cassette, "http://a.test/a").body == Data("from the file".utf8))
    }

    @Test func aRecordingHasWhatTheClientSentAndTheOriginAnswered() async throws {
        let path = self.folder.file("r.json")
        let cassette = try Cassette(
            path, mode: .once,
            settings: self.settings([
                .mapRemote(to: "http://staging.test/v2/", when: .url("^http://a\\.test/v1/"), name: "staging"),
                .edit(request: .init(set: ["header:x-env": "test"]), response: .init(set: ["status": "500"]), name: "broken"),
            ]))
        let network = StubTransport { _ in .json("{}") }
        let transport = cassette.before(
            RecordingTransport(cassette, around: ForwardingTransport(next: network)), clock: .immediate)
        let log = try await transport.exchange("GET", "http://a.test/v1/pets?a=1")
        #expect(log.head?.status == 500)
        let sent = try #require(network.requests.first)
        #expect(sent.url.absoluteString == "http://staging.test/v2/pets?a=1" && sent.headers["x-env"] == "test")
        _ = try cassette.close()
        let recorded = try RecordedCassette(path: path).interaction(at: 0)
        #expect(recorded.request.url == "http://a.test/v1/pets?a=1" && !recorded.request.headers.contains("x-env"))
        #expect(recorded.response?.status == 200)
        #expect(recorded.modified == Modification(rules: ["staging", "broken"], forwardedTo: "http://staging.test/v2/pets?a=1"))
    }

    @Test func latencyAndRatesUseTheSessionsClock() async throws {
        let cassette = try await self.cassette([
            .pace(latency: .seconds(3600), down: 1, up: 1), .fault(.slice(bytes: 10, delay: .seconds(60))),
        ])
        let clock = ImmediateClock()
        let log = try await cassette.transport(around: .shared, clock: clock).exchange("GET", self.url)
        #expect(log.body == Data(#"{"name":"Rex","ok":false}"#.utf8))
        #expect(clock.now.offset >= .seconds(3600 + 25 + 120))
    }

    @Test func aRuleThatMatchesNothingIsAFailure() async throws {
        let cassette = try await self.cassette([.block(when: .url("/other"), name: "other")])
        _ = try await self.exchange(cassette)
        let failures = try cassette.close().failures
        #expect(failures.count == 1 && failures[0].contains("rule \"other\"") && failures[0].contains("never matched"))
    }

    @Test(arguments: [
        (TrafficModification.block(.status(99)), "99"), (.fault(.status(600)), "600"), (.block(when: "~c 500"), "~c"),
        (.file("/nowhere/rules.json"), "/nowhere/rules.json"), (.mapLocal("../secret"), ".."),
        (.block(.close, records: true), "record"), (.pace(latency: .seconds(-1)), "latency"), (.fault(.slice(bytes: 0)), "bytes"),
    ])
    func aRuleThatIsWrongIsAnErrorAtTheOpening(rule: TrafficModification, word: String) throws {
        let error = #expect(throws: (any Error).self) {
            try Cassette(self.folder.file("none.json"), mode: .once, settings: self.settings([rule]))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains(word), "\(String(describing: error))")
    }

    @Test(arguments: [
        ("rules.yaml", "modify:\n  - name: gone\n    when: \"~u /pets\"\n    fault: { status: 410 }\n"),
        ("rules.json", #"{"modify": [{"name": "gone", "when": "~u /pets", "fault": {"status": 410}}]}"#),
    ])
    func rulesAreReadFromTheFilesOfTheCommandLine(name: String, text: String) async throws {
        try self.folder.write(text.utf8, to: name)
        let cassette = try await self.cassette([.file(self.folder.file(name))])
        #expect(try await self.exchange(cassette).head?.status == 410)
        #expect(cassette.report.checks.map(\.name) == ["rule \"gone\""])
    }

    @Test func aFileWithOtherSettingsIsRefused() throws {
        try self.folder.write("seed: 7\nmodify:\n  - block: 403\n".utf8, to: "rules.yaml")
        let error = #expect(throws: (any Error).self) {
            try Cassette(self.folder.file("none.json"), mode: .once, settings: self.settings([.file(self.folder.file("rules.yaml"))]))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("line 1: \"seed\" is not a rule"))
    }

    @Test func attemptsThatTheMatchRulesFindEqualAreCountedTogether() async throws {
        var settings = self.settings([.fault(.status(503), first: 1), .respond(body: "ok")])
        settings.ignore = ["query:ts"]
        let cassette = try Cassette(self.folder.file("none.json"), mode: .once, settings: settings)
        #expect(try await self.exchange(cassette, "http://a.test/?ts=1").head?.status == 503)
        #expect(try await self.exchange(cassette, "http://a.test/?ts=2").head?.status == 200)
    }

    @Test(arguments: ["# - block: 403\n", "modify:\n", "modify: null\n", "~"]) func aFileWithoutRulesIsRefused(text: String) throws {
        try self.folder.write(text.utf8, to: "rules.yaml")
        let error = #expect(throws: (any Error).self) {
            try Cassette(self.folder.file("none.json"), mode: .once, settings: self.settings([.file(self.folder.file("rules.yaml"))]))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("has no rules: write each after"))
        // A list may be empty.
        try self.folder.write("modify: []\n".utf8, to: "rules.yaml")
        _ = try Cassette(self.folder.file("none.json"), mode: .once, settings: self.settings([.file(self.folder.file("rules.yaml"))]))
    }

    /// A session that waits an hour by a clock of its own has an hour, and the next one begins there.
    @Test func timesOfTheRunAreThoseOfTheSessionsClock() async throws {
        let cassette = try Cassette(
            self.folder.file("none.json"), mode: .once,
            settings: self.settings([
                .respond(status: 201, when: .url("/early"), .after(.seconds(3600), for: .seconds(60))),
                .fault(.status(429), when: .url("/quota"), .quota(1, in: .seconds(60))), .respond(body: "ok"),
            ]))
        func statuses(_ transport: any Transport, _ path: String) async throws -> [Int?] {
            [try await transport.exchange("GET", "http://a.test\(path)").head?.status]
        }
        let (clock, owner) = (ImmediateClock(), ClockOwner())
        func transport() -> any Transport { cassette.transport(around: .shared, clock: clock, owner: owner) }
        #expect(try await statuses(transport(), "/early") == [200])
        #expect(try await statuses(transport(), "/quota") + statuses(transport(), "/quota") == [200, 429])
        try await clock.sleep(until: ImmediateClock.Instant(offset: .seconds(3599)))
        #expect(try await statuses(transport(), "/early") == [200])
        try await clock.sleep(until: ImmediateClock.Instant(offset: .seconds(3601)))
        #expect(try await statuses(transport(), "/early") == [201])
        #expect(try await statuses(transport(), "/quota") + statuses(transport(), "/quota") == [200, 429])
        // Another session.
        let (other, second) = (ImmediateClock(), ClockOwner())
        func later() -> any Transport { cassette.transport(around: .shared, clock: other, owner: second) }
        #expect(try await statuses(later(), "/early") == [201])
        try await other.sleep(until: ImmediateClock.Instant(offset: .seconds(60)))
        #expect(try await statuses(later(), "/early") == [200])
        withExtendedLifetime((owner, second)) {}
    }

    /// A session whose clock is that of the machine has no time of others.
    @Test func theSystemsClockIsNotMovedByOthers() async throws {
        let cassette = try Cassette(
            self.folder.file("none.json"), mode: .once,
            settings: self.settings([.respond(status: 201, .after(.seconds(3600))), .respond(body: "ok")]))
        let (clock, owner) = (ImmediateClock(), ClockOwner())
        let moved = cassette.transport(around: .shared, clock: clock, owner: owner)
        try await clock.sleep(until: ImmediateClock.Instant(offset: .seconds(7200)))
        #expect(try await moved.exchange("GET", self.url).head?.status == 201)
        #expect(try await cassette.transport(around: .shared).exchange("GET", self.url).head?.status == 200)
    }

    // MARK: Rules in Swift

    /// Rules in Swift, and what they are in YAML.
    @Test(arguments: [
        (
            TrafficModification.pace(lognormal: .init(median: .milliseconds(120), sigma: 0.6)),
            "{ pace: { lognormal: { median: 120ms, sigma: 0.6 } } }"
        ),
        (.pace(down: 1000, up: 500, burst: 4096, each: .host), "{ pace: { down: 1000B/s, up: 500B/s, burst: 4KiB, each: host } }"),
        (.pace(.lte, latency: .nanoseconds(1500)), "{ pace: { profile: lte, latency: 1.5us } }"),
        (.fault(.grpc("UNAVAILABLE", message: "try again")), "{ fault: { grpc: 14, message: try again } }"),
        (.fault(.tls(alert: "certificate_expired")), "{ fault: { kind: tls, alert: certificate_expired } }"),
        (
            .fault(.reset(after: .bytes(10), code: "INTERNAL_ERROR", ofConnection: true)),
            "{ fault: { kind: reset, after: 10B, code: 2, scope: connection } }"
        ),
        (
            .fault(.webSocketClose(code: 1011, reason: "restarting", after: 2)),
            "{ fault: { kind: close, code: 1011, reason: restarting, after: 2 messages } }"
        ),
        (.fault(.webSocketClose(code: nil)), "{ fault: { kind: close, code: none } }"),
        (.fault(.garbage(in: .head)), "{ fault: { kind: garbage, in: head } }"),
        (.fault(.stall(for: .seconds(20), in: .trailers)), "{ fault: { kind: stall, for: 20s, in: trailers } }"),
        (.fault(.status(503), .first(2).share(0.5)), "{ fault: { status: 503 }, first: 2, share: 50% }"),
        (
            .fault(.reset(), .after(.seconds(30), for: .seconds(10)).every(3).ofTheRule),
            "{ fault: reset, after: 30s, for: 10s, every: 3, count: rule }"
        ),
        (
            .fault(.status(429), .quota(100, in: .seconds(60), by: "header:authorization")),
            "{ fault: { status: 429 }, quota: { limit: 100, window: 60s, by: header:authorization } }"
        ),
        (.mapRemote(to: "http://b.test/", .nth([1, 3])), "{ mapRemote: http://b.test/, nth: [1, 3] }"),
        (.mapLocal("site", .first(1)), "{ mapLocal: site, first: 1 }"),
        (.respond(reason: "Hello", body: "{{x}}", templates: false), "{ respond: { reason: Hello, body: '{{x}}', templates: false } }"),
        (.respond(data: Data([1, 2])), "{ respond: { base64: AQI= } }"),
        (.respond(file: "site/a.txt"), "{ respond: { file: site/a.txt } }"),
        (.edit(request: .init(setFiles: ["part:photo": "site/a.txt"])), "{ request: { set: { 'part:photo': { file: site/a.txt } } } }"),
    ])
    func aRuleInSwiftIsThatOfAFile(rule: TrafficModification, text: String) throws {
        try self.folder.write("a".utf8, to: "site/a.txt")
        try self.folder.write("- \(text)\n".utf8, to: "rules.yaml")
        func engine(_ rule: TrafficModification) throws -> RuleEngine {
            try #require(
                try Cassette(self.folder.file("none.json"), mode: .once, settings: self.settings([rule])).rules?.engine)
        }
        let requests = [
            RequestFacts(method: "GET", url: "http://a.test/pets"), RequestFacts(method: "GET", url: "http://a.test/pets"),
            RequestFacts(method: "POST", url: "http://b.test/pets", isGRPC: true),
            RequestFacts(method: "GET", url: "ws://a.test/", opensWebSocket: true),
        ]
        let (one, other) = (try engine(rule), try engine(.file(self.folder.file("rules.yaml"))))
        #expect(one.report().map(\.draw) == other.report().map(\.draw))
        for (number, request) in requests.enumerated() {
            let now = Duration.seconds(number * 10)
            let plans = [one, other].map { $0.plan(for: request, now: now).map { String(describing: $0) } ?? "none" }
            #expect(plans[0] == plans[1])
        }
        #expect(one.report().map(\.applied) == other.report().map(\.applied))
    }

    /// Only 0 is never, and only 1 is always.
    @Test(arguments: [
        (0.0, "0%"), (1, "100%"), (0.07, "7%"), (0.29, "29%"), (0.001, "0.1%"), (1e-8, "0.000001%"), (0.99999999, "99.999999%"),
        (1.0 / 3, "33.333333333333%"), (1e-300, "0.000000000001%"), (1 - 1e-16, "99.999999999999%"),
    ])
    func aShareIsNeitherNeverNorAlwaysUnlessItIs(share: Double, text: String) throws {
        let rules = try Cassette(
            self.folder.file("none.json"), mode: .once, settings: self.settings([.fault(.reset(), .share(share))]))
        #expect(rules.rules?.engine.report().map(\.draw) == ["share \(text)"])
    }

    @Test(arguments: [-0.1, 1.1, .nan, .infinity]) func aShareOutOfItsRangeIsAnError(share: Double) {
        #expect(throws: (any Error).self) {
            try Cassette(self.folder.file("none.json"), mode: .once, settings: self.settings([.fault(.reset(), .share(share))]))
        }
    }

    @Test func aCallOfGRPCGetsItsStatus() async throws {
        let cassette = try Cassette(
            self.folder.file("none.json"), mode: .once,
            settings: self.settings([.fault(.grpc("UNAVAILABLE", message: "50 % of \"it\" 닫힘"))]))
        let transport = cassette.transport(around: .shared, clock: .immediate)
        let log = try await transport.exchange("POST", "http://a.test/p.S/M", headers: [("Content-Type", "application/grpc+proto")])
        #expect(log.head?.status == 200 && log.head?.headers["content-type"] == "application/grpc+proto")
        #expect(log.head?.headers["grpc-status"] == "14")
        #expect(log.head?.headers["grpc-message"]?.removingPercentEncoding == "50 % of \"it\" 닫힘")
        #expect(log.head?.headers["grpc-message"]?.hasPrefix("50 %25 of \"it\" %EB") == true)
    }

    /// Tests/Interop/rules.py has the same rule, requests and numbers for `record`, `replay` and `serve`.
    @Test func drawsAreThoseOfTheProxy() async throws {
        try self.folder.write(#"modify: [{ name: half, when: "~u /half/", fault: { status: 503, share: 50% } }]"#.utf8, to: "rules.yaml")
        let cassette = try Cassette(
            self.folder.file("none.json"), mode: .once,
            settings: self.settings([.file(self.folder.file("rules.yaml")), .respond(body: "ok")]))
        var failing: [Int] = []
        for number in 0..<40 where try await self.exchange(cassette, "http://shop.example.test/half/\(number % 10)").head?.status == 503 {
            failing.append(number)
        }
        #expect(failing == [2, 4, 5, 6, 7, 9, 10, 11, 17, 18, 25, 29, 30, 31, 36, 37, 38, 39])
    }

    @Test func drawsDependOnTheSeedAndNotOnTheOrder() async throws {
        func failing(_ seed: UInt64, _ order: [Int]) async throws -> Set<Int> {
            let cassette = try Cassette(
                self.folder.file("none.json"), mode: .once,
                settings: self.settings([.fault(.status(503), .share(0.3)), .respond(body: "ok")], seed: seed))
            var failing: Set<Int> = []
            for number in order where try await self.exchange(cassette, "http://a.test/\(number)").head?.status == 503 {
                failing.insert(number)
            }
            return failing
        }
        let one = try await failing(1, Array(0..<60))
        #expect((8...30).contains(one.count))
        #expect(try await failing(1, (0..<60).reversed()) == one)
        #expect(try await failing(2, Array(0..<60)) != one)
    }

    @Test func aCancelledExchangeEndsOnce() async throws {
        let cassette = try await self.cassette([.fault(.timeout(after: .bytes(4)))])
        let events = Guarded<[String]>([])
        let task = cassette.transport(around: .shared).start(TransportRequest(method: "GET", url: try #require(URL(string: self.url)))) {
            event in
            if event.isLast { events.withLock { $0.append("\(event)") } }
            return .more
        }
        task.cancel()
        task.cancel()
        #expect(events.withLock { $0 }.count == 1)
    }
}
