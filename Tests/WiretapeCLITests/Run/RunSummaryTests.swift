import CassettePlayback
import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeProxy
import TapeRecorder
import Testing
@testable import WiretapeCLI

@Suite struct RunSummaryTests {
    private let file: WrittenFile

    init() throws { self.file = try WrittenFile() }

    private func summary(_ mode: RecordMode, exists: Bool, _ change: (inout RunSummary) -> Void = { _ in }) throws -> RunSummary {
        var summary = RunSummary(
            path: "pets.json", plan: try RecordingPlan(path: "pets.json", mode: mode, exists: exists), counts: ProxyCounts(),
            replay: ReplayReport(cassette: "pets.json", mode: mode, verdict: Verdict(), exchanges: []), recorder: nil, childStatus: nil)
        change(&summary)
        return summary
    }

    private static func status(recorded: Int, lost: Int = 0, problem: String? = nil) -> RecorderStatus {
        var status = RecorderStatus()
        status.recorded = recorded
        status.lost = lost
        status.firstProblem = problem.map { RecorderProblem(.diskFull, $0) }
        return status
    }

    private static func exchanges(_ count: Int) -> [ReplayReport.Exchange] {
        (1...count).map { ReplayReport.Exchange(id: $0, request: "GET http://a/\($0)", answers: 1) }
    }

    private func report(_ summary: RunSummary, quiet: Bool = false) throws -> String {
        let terminal = Terminal(self.file.descriptor)
        summary.report(to: RunScreen(quiet: quiet, hasChild: false, output: terminal, errors: terminal))
        return try self.file.text()
    }

    // MARK: Exit code

    @Test func anAnswerThatDidNotArriveFailsTheRunAndIsNamed() throws {
        let summary = try self.summary(.none, exists: true) {
            $0.failOn = FailureRule([])
            $0.replay.verdict.unserved = 1
            $0.replay.verdict.unservedAnswers = [UnservedAnswer(index: 0, problem: "its client left")]
        }
        #expect(summary.exitStatus == 1)
        #expect(try self.report(summary).contains("not served: exchange 1 could not be replayed: its client left"))
    }

    @Test(
        arguments: [
            (nil, 0, 0, nil, 0), (0, 0, 0, nil, 0), (nil, 1, 0, nil, 3), (0, 1, 0, nil, 3), (7, 1, 1, "x", 7), (nil, 0, 1, "x", 1),
            (0, 0, 0, "x", 1),
            (0, 2, 1, nil, 1),
        ] as [(Int32?, Int, Int, String?, Int32)])
    func theCommandGoesFirstThenTheRecordingThenMisses(child: Int32?, misses: Int, lost: Int, problem: String?, exit: Int32) throws {
        let summary = try self.summary(.newEpisodes, exists: true) {
            $0.childStatus = child
            $0.replay.verdict.misses = misses
            $0.recorder = Self.status(recorded: 1, lost: lost, problem: problem)
        }
        #expect(summary.exitStatus == exit)
    }

    @Test(
        arguments: [
            ([.miss], 0, 1, 1, 0), ([.unused], 1, 1, 1, 4), ([.order], 1, 1, 1, 5), ([.miss, .unused, .order], 1, 1, 1, 3),
            ([.unused, .order], 1, 1, 1, 4), ([.order], 1, 1, 0, 0), ([], 1, 1, 1, 0),
        ] as [(Set<VerdictFlaw>, Int, Int, Int, Int32)])
    func aFlawHasItsCodeWhereItIsToFail(failOn: Set<VerdictFlaw>, misses: Int, unused: Int, order: Int, exit: Int32) throws {
        let summary = try self.summary(.none, exists: true) {
            $0.replay.verdict.misses = misses
            $0.replay.verdict.unused = Array(0..<unused)
            $0.replay.verdict.orderViolations = order
            $0.failOn = FailureRule(failOn)
        }
        #expect(summary.exitStatus == exit)
    }

    @Test func ofSeveralReasonsTheSmallestCodeCounts() throws {
        let summary = try self.summary(.none, exists: true) {
            $0.counts.unreadable = 1
            $0.replay.verdict.misses = 1
        }
        #expect(summary.exitStatus == ExitStatus.failed)
    }

    @Test func failingFlawsAreListedIndividually() throws {
        let summary = try self.summary(.none, exists: true) {
            $0.replay.exchanges = Self.exchanges(2)
            $0.replay.verdict = Verdict(hits: 1, unused: [1])
        }
        #expect(try self.report(summary) == "wiretape: replayed 1 of 2 exchanges from pets.json, 1 unused.\n")
        var strict = summary
        strict.failOn = FailureRule([.unused])
        #expect(try RunSummaryTests().report(strict, quiet: true) == "wiretape: unused: exchange 2, \"GET http://a/2\"\n")
    }

    @Test func aReplayHasNoRecorderToFail() throws {
        #expect(try self.summary(.none, exists: true).exitStatus == ExitStatus.done)
    }

    // MARK: For people

    @Test func aRecordingIsCountedAndNamed() throws {
        let summary = try self.summary(.all, exists: false) {
            $0.recorder = Self.status(recorded: 1)
            $0.counts.bytes = 2500
        }
        #expect(try self.report(summary) == "wiretape: recorded 1 exchange (2.5 KB) in pets.json.\n")
    }

    @Test func aRecordingOfNothingSaysThatTheOldOneStays() throws {
        let summary = try self.summary(.all, exists: true) { $0.recorder = Self.status(recorded: 0) }
        #expect(try self.report(summary).hasPrefix("wiretape: nothing was recorded, so pets.json is unchanged"))
    }

    /// Regardless of the command that has recorded: the next run replays it.
    @Test(arguments: [RecordMode.once, .all]) func aFirstRunThatFailedSaysHowToRecordAgain(_ mode: RecordMode) throws {
        let summary = try self.summary(mode, exists: false) {
            $0.recorder = Self.status(recorded: 1)
            $0.childStatus = 1
        }
        #expect(try self.report(summary).contains("remove it to record again"))
    }

    @Test func aRecordingThatDidNotTakeItsPlaceSaysWhereItIs() throws {
        let summary = try self.summary(.all, exists: true) {
            $0.path = "pets.new.json"
            $0.recorder = Self.status(recorded: 2)
            $0.childStatus = 1
        }
        let text = "wiretape: recorded 2 exchanges (0 B) in pets.new.json; the command failed, so pets.json is unchanged.\n"
        #expect(try self.report(summary) == text)
    }

    @Test func aReplayCountsUsedAndUnusedExchanges() throws {
        let summary = try self.summary(.none, exists: true) {
            $0.replay.exchanges = Self.exchanges(3)
            $0.replay.verdict = Verdict(hits: 4, repeatedHits: 2, unused: [1, 2])
        }
        #expect(try self.report(summary) == "wiretape: replayed 4 of 3 exchanges from pets.json, 2 of them again, 2 unused.\n")
    }

    @Test func missesAreReportedFirstEvenQuietly() throws {
        let miss = MissReport(request: "GET http://a/x", mode: .none, reason: .notRecorded)
        let summary = try self.summary(.none, exists: true) {
            $0.replay.exchanges = Self.exchanges(1)
            $0.replay.verdict = Verdict(hits: 1, misses: 3, reports: [miss])
        }
        let line = MissCommands(words: Array(ProgramArguments.all.dropFirst()), file: "pets.json").complete("miss: \(miss)")
        let complaints = "wiretape: \(line)\nwiretape: and 2 more misses\n"
        #expect(try self.report(summary) == complaints + "wiretape: replayed 1 of 1 exchange from pets.json, 3 misses.\n")
        #expect(try RunSummaryTests().report(summary, quiet: true) == complaints)
    }

    @Test func exchangesLostToAFullDiskAreReportedEvenQuietly() throws {
        let lost = try self.summary(.all, exists: false) { $0.recorder = Self.status(recorded: 1, lost: 2, problem: "the disk is full") }
        #expect(
            try self.report(lost, quiet: true) == "wiretape: 2 exchanges not recorded (the disk is full): make room and record again.\n")
        let late = try self.summary(.all, exists: false) { $0.recorder = Self.status(recorded: 1, problem: "the disk is full") }
        #expect(try RunSummaryTests().report(late, quiet: true) == "wiretape: recording was delayed (the disk is full); nothing is lost.\n")
    }

    @Test(arguments: [(0, ": does the program use its proxy settings?"), (1, ".")])
    func emptyRecordingAdvisesOnTheProxySettingsUnlessThereWasATunnel(tunnels: Int, end: String) throws {
        let summary = try self.summary(.all, exists: true) {
            $0.recorder = Self.status(recorded: 0)
            $0.counts.tunnels = tunnels
        }
        #expect(try self.report(summary).hasPrefix("wiretape: nothing was recorded, so pets.json is unchanged\(end)\n"))
    }

    @Test func aCommandThatWasNeverHeardOfIsOfferedTheURLInThePath() throws {
        var summary = try self.summary(.passthrough, exists: false) {
            $0.childStatus = 0
            $0.address = "127.0.0.1:7070"
        }
        let said = try self.report(summary)
        #expect(said.contains("made no request through the proxy") && said.contains("http://127.0.0.1:7070/http://localhost:8000/pets"))
        summary.counts.malformed = 1
        #expect(try RunSummaryTests().report(summary).isEmpty)
    }

    /// Its requests arrived, so the proxy settings are not the reason.
    @Test func aCommandWhoseRequestsWereRefusedGetsNoAdviceOnItsSettings() throws {
        let summary = try self.summary(.all, exists: false) {
            $0.childStatus = 0
            $0.address = "127.0.0.1:7070"
            $0.recorder = Self.status(recorded: 0)
            $0.counts.answered = 2
        }
        #expect(
            try self.report(summary) == "wiretape: nothing was recorded, so there is no pets.json: wiretape itself answered 2 requests.\n")
    }

    /// Its request arrived, and a rule closed its connection.
    @Test func aCommandWhoseRequestsRulesAnsweredGetsNoAdviceOnItsSettings() throws {
        var summary = try self.summary(.all, exists: false) {
            $0.childStatus = 0
            $0.address = "127.0.0.1:7070"
            $0.recorder = Self.status(recorded: 0)
        }
        summary.replay.verdict.answeredByRules = 2
        #expect(
            try self.report(summary) == "wiretape: nothing was recorded, so there is no pets.json: traffic rules answered 2 requests.\n")
        summary = try self.summary(.none, exists: true) {
            $0.childStatus = 0
            $0.address = "127.0.0.1:7070"
        }
        #expect(try RunSummaryTests().report(summary).contains("made no request"))
        summary.replay.verdict.answeredByRules = 1
        #expect(try !RunSummaryTests().report(summary).contains("made no request"))
        #expect(summary.json.contains("\"answeredByRules\": 1"))
    }

    @Test func tunnelsAreReportedSinceTheyAreNotRecorded() throws {
        let summary = try self.summary(.passthrough, exists: false) { $0.counts.tunnels = 1 }
        #expect(try self.report(summary) == "wiretape: 1 tunnel passed through unopened: their contents are not recorded.\n")
    }

    @Test(arguments: [(1, "1 TLS handshake failed"), (3, "3 TLS handshakes failed")])
    func handshakesThatFailedAreCounted(count: Int, words: String) throws {
        let summary = try self.summary(.all, exists: false) { $0.counts.tlsFailures = count }
        #expect(try self.report(summary) == "wiretape: \(words): the lines above say which, and what to do.\n")
        #expect(summary.json.contains("\"tlsFailures\": \(count)"))
    }

    @Test func aSecretThatIsLeftFailsTheRunAndIsNamedByItsPlace() throws {
        let summary = try self.summary(.all, exists: true) {
            $0.recorder = Self.status(recorded: 2, lost: 0)
            $0.recorder?.leaks = [
                CassetteLeak(exchange: 2, place: "line 7", placeholder: Placeholder(kind: "jwt", number: 1), spelling: .plain)
            ]
        }
        #expect(summary.exitStatus == 6)
        #expect(try self.report(summary).contains("exchange 2, line 7: the value of {{jwt:1}} (plain)"))
        #expect(summary.json.contains("\"leaks\": 1"))
    }

    // MARK: For scripts

    @Test func aRecordingsLineHasNoWordOnReplaying() throws {
        let summary = try self.summary(.all, exists: false) {
            $0.recorder = Self.status(recorded: 2, lost: 1)
            $0.counts.bytes = 10
        }
        #expect(
            summary.json
                == #"{ "cassette": "pets.json", "mode": "all", "recorded": 2, "lost": 1, "bytes": 10, "tunnels": 0, "tlsFailures": 0, "exit": 1 }"#
        )
    }

    @Test func aReplaysLineHoldsTheReportsOfMisses() throws {
        let miss = MissReport(request: "GET http://a/\"x\"", mode: .none, reason: .notRecorded)
        let summary = try self.summary(.none, exists: true) {
            $0.replay.verdict = Verdict(hits: 1, misses: 1, reports: [miss], unused: [4])
        }
        #expect(!summary.json.contains("\n"))
        let root = try JSONDocument(Array(summary.json.utf8)).root
        #expect(
            root.members.map(\.name.string) == [
                "cassette", "mode", "hits", "misses", "unreadable", "unused", "orderViolations", "bytes", "tunnels", "tlsFailures", "exit",
                "reports",
            ])
        #expect(root["unused"]?.int == 1)
        #expect(root["exit"]?.int == 3)
        #expect(root["reports"]?.elements.map(\.string) == [miss.description])
    }

    @Test func jsonHasTheOutcomeOfAReview() throws {
        let summary = try self.summary(.all, exists: true) {
            $0.recorder = Self.status(recorded: 2)
            $0.review = .pending
        }
        #expect(summary.json.contains("\"review\": \"pending\"") && summary.exitStatus == 0)
    }
}
