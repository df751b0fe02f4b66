import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteRun
import CassetteStore
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct CassetteInATaskTests {
    @Test func opensAndFinishesWithoutWaitingInTheTask() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.json")
        let recorded = try await Cassette.open(path, mode: .once)
        let stub = StubTransport { _ in .text("hello") }
        #expect(try await HTTPSession(transport: RecordingTransport(recorded, around: stub)).get("http://a.test/") == Data("hello".utf8))
        #expect(try await recorded.finish().recorded == 1)
        // Repeated calls give the same outcome.
        #expect(try await recorded.finish().path == path)
        let replayed = try await Cassette.open(path)
        #expect(try await HTTPSession.patient(replayed).get("http://a.test/") == Data("hello".utf8))
        try await replayed.finish()
        await #expect(throws: CassetteError.self) { try await Cassette.open(folder.file("none.json")) }
    }
}

@Suite struct CassetteTests {
    private let url = "http://a.test/pets"

    @discardableResult
    private func record(_ texts: [String], mode: RecordMode, in folder: TemporaryFolder, name: String = "tapes/a.json") async throws
        -> Cassette
    {
        let cassette = try Cassette(folder.file(name), mode: mode)
        let transport = RecordingTransport(cassette, around: StubTransport(texts.map { .text($0) }))
        for number in texts.indices { _ = try await transport.exchange("GET", "\(self.url)/\(number)") }
        return cassette
    }

    private func texts(_ path: String) async throws -> [String] {
        let file = try RecordedCassette(path: path)
        return try (0..<file.count).map {
            String(decoding: try file.interaction(at: $0).response?.body?.content.inlineBytes ?? [], as: UTF8.self)
        }
    }

    @Test func oneThatIsNotThereIsMadeWithItsFolders() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tapes/a.json")
        let error = #expect(throws: CassetteError.self) { try Cassette(path) }
        #expect(error?.code == .notFound)
        #expect(error?.message == "there is no cassette \"\(path)\": open it with mode .once to record it.")
        let outcome = try await self.record(["one", "two"], mode: .once, in: folder).close()
        #expect(outcome.path == path)
        #expect(outcome.recorded == 2)
        #expect(outcome.failures.isEmpty)
        #expect(try await self.texts(path) == ["one", "two"])
    }

    @Test(arguments: [RecordMode.once, .all, .newEpisodes]) func anEmptyFileIsRecordedButNotReplayed(mode: RecordMode) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        try folder.write([], to: "a.json")
        let error = #expect(throws: CassetteError.self) { try Cassette(path) }
        #expect(error?.message == "\"\(path)\" is an empty file, not a cassette: record it, or restore it from a copy")
        try await self.record(["one"], mode: mode, in: folder, name: "a.json").close()
        #expect(try await self.texts(path) == ["one"])
    }

    @Test func closingTwiceIsHarmlessAndLaterRequestsFail() async throws {
        let folder = try TemporaryFolder()
        let cassette = try await self.record(["one"], mode: .once, in: folder)
        let outcome = try cassette.close()
        #expect(try cassette.close() == outcome)
        let log = try await RecordingTransport(cassette, around: StubTransport([.text("two")])).exchange("GET", self.url)
        #expect(log.lines == ["failed unserved"])
        #expect(log.failure?.message.contains("is closed") == true)
    }

    @Test func aNewRecordingTakesThePlaceOfTheOldOneUnlessItIsKept() async throws {
        let folder = try TemporaryFolder()
        try await self.record(["old"], mode: .once, in: folder).close()
        let kept = try await self.record(["new"], mode: .all, in: folder).close(keepingOld: true)
        #expect(kept.path == folder.file("tapes/a.new.json"))
        #expect(try await self.texts(folder.file("tapes/a.json")) == ["old"])
        try await self.record(["newer"], mode: .all, in: folder).close()
        #expect(try await self.texts(folder.file("tapes/a.json")) == ["newer"])
    }

    @Test(arguments: [RecordMode.once, .all, .newEpisodes]) func abandonedRecordingLeavesNoTrace(mode: RecordMode) async throws {
        let folder = try TemporaryFolder()
        if mode != .once { try await self.record(["old"], mode: .once, in: folder).close() }
        let cassette = try Cassette(folder.file("tapes/a.json"), mode: mode)
        let transport = RecordingTransport(
            cassette, around: StubTransport { _ in .response(body: Data(repeating: 200, count: 100_000)) })
        _ = try await transport.exchange("GET", "\(self.url)/new")
        try cassette.abandon()
        let names = try folder.names(in: "tapes")
        #expect(names.filter { $0.hasSuffix(".json") } == (mode == .once ? [] : ["a.json"]))
        if mode != .once { #expect(try await self.texts(folder.file("tapes/a.json")) == ["old"]) }
        #expect(try folder.names(in: "tapes/a.bodies").isEmpty)
    }

    @Test func anExchangeOnItsWayIsRecordedAsCut() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let log = EventLog()
        let stub = StubTransport([StubResponse(status: 200, chunks: [.init(Data("ha".utf8))], ending: .hang)])
        let task = RecordingTransport(cassette, around: stub).start(.make("GET", self.url)) { log.receive($0) }
        await log.wait(for: 2)
        try cassette.close()
        task.cancel()
        let exchange = try RecordedCassette(path: folder.file("a.json")).interaction(at: 0)
        #expect(exchange.outcome == .cut(Cut(by: .recorder, reason: "the cassette was closed before the exchange had ended")))
        #expect(exchange.response?.body?.isComplete == false)
    }

    @Test func nothingIsWrittenInModeNone() async throws {
        let folder = try TemporaryFolder()
        try await self.record(["one"], mode: .once, in: folder).close()
        let before = try folder.read("tapes/a.json")
        let cassette = try Cassette(folder.file("tapes/a.json"))
        #expect(cassette.transport is ReplayTransport)
        _ = try await cassette.transport.exchange("GET", "\(self.url)/0")
        _ = try await cassette.transport.exchange("GET", "\(self.url)/9")
        let outcome = try cassette.close()
        #expect(outcome.path == nil)
        #expect(outcome.failures.count == 1)
        #expect(outcome.failures.first?.hasPrefix("miss: no recorded exchange answers \"GET \(self.url)/9\"") == true)
        #expect(try folder.read("tapes/a.json") == before)
    }

    @Test func settingsOverrideThoseOfTheCassette() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        var settings = Cassette.Settings()
        settings.ignore = ["query:ts"]
        var cassette = try Cassette(path, mode: .once, settings: settings)
        _ = try await RecordingTransport(cassette, around: StubTransport([.text("one")])).exchange("GET", "\(self.url)?ts=1&page=1")
        try cassette.close()
        cassette = try Cassette(path)
        #expect(try await cassette.transport.exchange("GET", "\(self.url)?ts=2&page=1").lines.last == "end")
        settings = Cassette.Settings()
        settings.ignore = ["query:page"]
        settings.customMatches = [CustomMatch("even") { _, live in live.url.hasSuffix("3") ? "odd" : nil }]
        settings.repetition = .last
        cassette = try Cassette(path, settings: settings)
        #expect(try await cassette.transport.exchange("GET", "\(self.url)?ts=2&page=2").lines.last == "end")
        #expect(try await cassette.transport.exchange("GET", "\(self.url)?ts=2&page=4").lines.last == "end")
        #expect(try await cassette.transport.exchange("GET", "\(self.url)?ts=2&page=3").lines == ["failed no match"])
    }

    @Test func badSettingsAreNamed() throws {
        let path = CassetteFixture.recorded("pets")
        var settings = Cassette.Settings()
        settings.ignore = ["nowhere"]
        #expect(throws: MatchRuleError.self) { try Cassette(path, settings: settings) }
        settings = Cassette.Settings()
        settings.redact = ["nowhere"]
        #expect(throws: SettingSyntaxError.self) { try Cassette(path, settings: settings) }
        settings.redaction = false
        let error = #expect(throws: SettingSyntaxError.self) { try Cassette(path, settings: settings) }
        #expect(error?.message.contains("set redaction to true") == true)
    }

    @Test func strictOrderFailsRequestsOutOfTurn() async throws {
        let folder = try TemporaryFolder()
        try await self.record(["one", "two"], mode: .once, in: folder).close()
        var settings = Cassette.Settings()
        settings.order = .strict
        settings.failOn = [.miss, .unused]
        let cassette = try Cassette(folder.file("tapes/a.json"), settings: settings)
        #expect(try await cassette.transport.exchange("GET", "\(self.url)/1").lines == ["failed no match"])
        let failures = try cassette.close().failures
        #expect(failures.contains { $0.hasPrefix("order: ") })
        #expect(failures.contains { $0.hasPrefix("unused: ") })
    }

    @Test func datesMoveWithTheReplay() async throws {
        let folder = try TemporaryFolder()
        let interaction = CassetteFixture.interaction(
            url: self.url, headers: ["Date: Sat, 21 Nov 2026 08:00:01 GMT"], body: CassetteFixture.text("x"))
        try CassetteFixture.write([interaction], to: folder.file("a.json"))
        var settings = Cassette.Settings()
        settings.refreshDates = true
        let later = Date(timeIntervalSince1970: Double(interaction.started.microseconds) / 1e6 + 86_400)
        let cassette = try Cassette(folder.file("a.json"), settings: settings, now: later)
        let log = try await cassette.transport.exchange("GET", self.url)
        #expect(log.head?.headers.value(for: "date") == "Sun, 22 Nov 2026 08:00:01 GMT")
    }

    @Test func concurrentClosesGetTheSameOutcome() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        _ = try await RecordingTransport(cassette, around: StubTransport([.text("x")])).exchange("GET", "http://a.test/")
        let outcomes = try await withThrowingTaskGroup(of: Cassette.Outcome.self) { group in
            for _ in 0..<8 { group.addTask { try cassette.close() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(outcomes).count == 1)
        #expect(outcomes.first?.recorded == 1)
    }
}

@Suite struct CassetteOutcomeTests {
    private func failures(_ verdict: Verdict, order: ReplayOrder = .any, lost: Int = 0, failOn: Set<VerdictFlaw>) -> [String] {
        let report = ReplayReport(cassette: "a", mode: .none, order: order, verdict: verdict, exchanges: [])
        return Cassette.Outcome(path: nil, recorded: 0, lost: lost, report: report, failOn: failOn).failures
    }

    @Test func failuresAreThoseThatTheSettingsName() {
        let miss = MissReport(request: "GET /", mode: .none, reason: .notRecorded, audience: .program)
        let verdict = Verdict(misses: 1, reports: [miss], unused: [0])
        #expect(self.failures(verdict, failOn: []) == [])
        #expect(self.failures(verdict, failOn: [.miss]) == ["miss: \(miss.description)"])
        #expect(self.failures(verdict, failOn: [.unused]).count == 1)
    }

    @Test func unservedAndUnwrittenExchangesAlwaysFail() {
        let unserved = Verdict(unserved: 1, unservedAnswers: [UnservedAnswer(index: 0, problem: "gone")])
        #expect(self.failures(unserved, failOn: []) == ["not served: exchange 1 could not be replayed: gone"])
        #expect(
            self.failures(Verdict(), lost: 2, failOn: [])
                == ["2 recorded exchanges could not be written: free disk space and record again"])
    }
}

@Suite struct CassetteSettingsTests {
    @Test func textsAreThoseOfTheCommandLine() throws {
        var settings = Cassette.Settings()
        #expect(try settings.planOptions.matchTexts.isEmpty)
        settings.match = ["method"]
        settings.ignore = ["query:a"]
        settings.patterns = ["query:b=[0-9]+"]
        #expect(try settings.planOptions.matchTexts == MatchRuleTexts(match: ["method"], ignore: ["query:a"], patterns: ["query:b=[0-9]+"]))
    }

    @Test func redactionIsOffOrHasRules() throws {
        var settings = Cassette.Settings()
        settings.redact = ["header:x-new"]
        #expect(try settings.planOptions.redaction?.rules.map(\.text) == ["header:x-new"])
        settings = Cassette.Settings()
        settings.redaction = false
        #expect(try settings.planOptions.redaction == nil)
        settings.secrets = ["PIN": "1"]
        #expect(throws: SettingSyntaxError.self) { try settings.planOptions }
        settings.redaction = true
        #expect(throws: SettingSyntaxError.self) { try settings.planOptions }
    }

    @Test func datesMoveOnlyWhereThatIsAskedFor() throws {
        var settings = Cassette.Settings()
        settings.refreshFields = ["json:/at"]
        #expect(try settings.planOptions.refreshedFields == nil)
        settings.refreshDates = true
        #expect(try settings.planOptions.refreshedFields == ["json:/at"])
    }
}
