import TapeCore
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct RunSummaryTests {
    private func summary(_ child: Int32?, misses: Int = 0, recorder: RecorderStatus? = nil) throws -> RunSummary {
        RunSummary(
            path: "x.json", plan: try RecordingPlan(path: "x.json", mode: .newEpisodes, exists: true), counts: ProxyCounts(),
            verdict: Verdict(hits: 2, misses: misses), recorder: recorder, recorded: 3, childStatus: child)
    }

    @Test func theCommandsCodeGoesFirstThenFailureThenMisses() throws {
        var failed = RecorderStatus()
        failed.lost = 1
        #expect(try self.summary(nil).exitStatus == 0)
        #expect(try self.summary(0).exitStatus == 0)
        #expect(try self.summary(0, misses: 1).exitStatus == 3)
        #expect(try self.summary(nil, misses: 1, recorder: failed).exitStatus == 1)
        #expect(try self.summary(9, misses: 1, recorder: failed).exitStatus == 9)
    }

    @Test func aProblemThatWasGotOverFailsTheRunToo() throws {
        var held = RecorderStatus()
        held.firstProblem = "disk full"
        #expect(try self.summary(0, recorder: held).exitStatus == 1)
    }

    @Test func theLineForScriptsHasWhatTheRunDid() throws {
        var status = RecorderStatus()
        status.recorded = 4
        #expect(
            try self.summary(0, misses: 1, recorder: status).json
                == "{ \"cassette\": \"x.json\", \"mode\": \"new-episodes\", \"recorded\": 4, \"lost\": 0, \"hits\": 2, \"misses\": 1, \"unused\": 0, \"bytes\": 0, \"tunnels\": 0, \"exit\": 3 }"
        )
    }
}
