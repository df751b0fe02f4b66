import CassettePlayback
import CassetteRedaction
import CassetteStore
import TapeRecorder
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

    @Test func theSmallestReasonIsTheExitCode() throws {
        let fine = try self.report()
        let missed = try self.report { $0.verdict.misses = 1 }
        let failed = try self.report { $0.problem = "x" }
        #expect(ServeRun.exitStatus([]) == ExitStatus.done)
        #expect(ServeRun.exitStatus([fine]) == ExitStatus.done)
        #expect(ServeRun.exitStatus([fine, missed]) == ExitStatus.misses)
        #expect(ServeRun.exitStatus([missed, failed, fine]) == ExitStatus.failed)
        let unused = try self.report {
            $0.verdict.unused = [0]
            $0.failOn = FailureRule([.unused])
        }
        #expect(ServeRun.exitStatus([fine, unused]) == ExitStatus.unused)
        #expect(ServeRun.exitStatus([unused, missed]) == ExitStatus.misses)
    }

    @Test func aSessionThatNobodyEndedHasALine() throws {
        #expect(ServeRun.lines(try self.report()) == ["session \"s1\" with \"pets.json\" was still open: 2 hits, 0 misses."])
        let text = ServeRun.lines(
            try self.report {
                $0.recorder = RecorderStatus()
                $0.recorder?.recorded = 1
                $0.recorder?.lost = 2
                $0.file = "/c/pets.json"
                $0.problem = "the disk is full"
            }
        ).joined()
        #expect(text.hasSuffix(", 1 exchange recorded in \"/c/pets.json\", 2 lost, exit code 1; the disk is full"), "\(text)")
    }

    @Test func whatWentWrongIsToldSessionBySession() throws {
        let lines = ServeRun.lines(
            try self.report {
                $0.verdict.unused = [0]
                $0.verdict.orderViolations = 1
                $0.failOn = FailureRule([.unused])
                $0.details = ReplayReport(
                    cassette: "pets.json", mode: .none, verdict: Verdict(hits: 2, unused: [0]),
                    exchanges: [ReplayReport.Exchange(id: 7, request: "GET http://origin.test/", answers: 0)])
                $0.recorder = RecorderStatus()
                $0.recorder?.leaks = [
                    CassetteLeak(exchange: 1, place: "line 1", placeholder: Placeholder(kind: "cookie", number: 1), spelling: .plain)
                ]
            })
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.allSatisfy { $0.hasPrefix("session \"s1\"") })
        #expect(lines[0].contains("GET http://origin.test/") && lines[1].contains("{{cookie:1}}"))
        #expect(lines[2].hasSuffix("1 out of order, 1 unused, 0 exchanges recorded, exit code 4."), "\(lines[2])")
    }

    @Test func hostPatternsOfSomeCassettesAreToldToBeOfNoUse() throws {
        let file = try ConfigFile(path: "w.yaml", bytes: Array("passthrough: [a.test]\ncassettes:\n  \"x*\":\n    refuse: [b.test]".utf8))
        #expect(ServeRun.notices(on: file).count == 1 && ServeRun.notices(on: nil) == [])
        let fine = try ConfigFile(path: "w.yaml", bytes: Array("passthrough: [a.test]\ncassettes:\n  \"x*\":\n    repeat: last".utf8))
        #expect(ServeRun.notices(on: fine) == [])
    }
}
