import TapeCore
import Testing

@testable import TapeProxy
@testable import WiretapeCLI

@Suite struct ServeRunTests {
    private func report(_ change: (inout SessionReport) -> Void = { _ in }) throws -> SessionReport {
        var report = SessionReport(
            name: try #require(SessionName("s1")), cassette: "pets.json", mode: .once, isOpen: false, recorded: 0, counts: ProxyCounts(),
            verdict: Verdict(hits: 2))
        change(&report)
        return report
    }

    @Test func failuresGoBeforeMisses() throws {
        let fine = try self.report()
        let missed = try self.report { $0.verdict.misses = 1 }
        let failed = try self.report { $0.problem = "x" }
        #expect(ServeRun.exitStatus([]) == ExitStatus.done)
        #expect(ServeRun.exitStatus([fine]) == ExitStatus.done)
        #expect(ServeRun.exitStatus([fine, missed]) == ExitStatus.misses)
        #expect(ServeRun.exitStatus([missed, failed, fine]) == ExitStatus.failed)
    }

    @Test func aSessionThatNobodyEndedHasALine() throws {
        #expect(ServeRun.line(try self.report()) == "session \"s1\" with \"pets.json\" was still open: 2 hits, 0 misses.")
        let text = ServeRun.line(
            try self.report {
                $0.recorder = RecorderStatus()
                $0.recorder?.recorded = 1
                $0.recorder?.lost = 2
                $0.file = "/c/pets.json"
                $0.problem = "the disk is full"
            })
        #expect(text.hasSuffix(", 1 exchange recorded in \"/c/pets.json\", 2 lost; the disk is full"), "\(text)")
    }
}
