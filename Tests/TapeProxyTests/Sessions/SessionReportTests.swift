import CassettePlayback
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeRecorder
import Testing
@testable import TapeProxy

@Suite struct SessionReportTests {
    private func report(_ change: (inout SessionReport) -> Void = { _ in }) throws -> SessionReport {
        var report = SessionReport(
            name: try #require(SessionName("s1")), cassette: "pets.json", mode: .once, isOpen: false, recorded: 2, counts: ProxyCounts(),
            verdict: Verdict(hits: 1, unused: [1]))
        change(&report)
        return report
    }

    private func json(_ report: SessionReport) -> String {
        var writer = JSONWriter()
        report.write(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func aReplayHasItsVerdict() throws {
        #expect(
            self.json(try self.report()) == """
                { "id": "s1", "state": "closed", "cassette": "pets.json", "mode": "once", "exit": 0, "failOn": "miss", "exchanges": 2, \
                "verdict": { "hits": 1, "repeatedHits": 0, "forwarded": 0, "unreached": 0, "answeredByRules": 0, "misses": 0, "orderViolations": 0, "unused": 1, \
                "unreadable": 0 }, "traffic": { "bytes": 0, "tunnels": 0, "malformed": 0, "tlsFailures": 0 } }
                """)
    }

    @Test func detailsAreTheReportOfAReplay() throws {
        let details = ReplayReport(
            cassette: "pets.json", mode: .once, verdict: Verdict(hits: 1),
            exchanges: [ReplayReport.Exchange(id: 7, request: "GET http://origin.test/", answers: 1)])
        let text = self.json(try self.report { $0.details = details })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect((object["report"] as? [String: Any])?["clean"] as? Bool == true)
    }

    @Test func aRecordingHasItsFileAndItsProblem() throws {
        let text = self.json(
            try self.report {
                $0.recorder = RecorderStatus()
                $0.recorder?.recorded = 3
                $0.file = "/c/pets.new.json"
                $0.problem = "the disk is full"
            })
        #expect(
            text.contains(
                #""recording": { "file": "/c/pets.new.json", "recorded": 3, "lost": 0, "problem": "the disk is full" }"#), "\(text)")
    }

    @Test func leaksAndAgeAreReported() throws {
        let leak = CassetteLeak(exchange: 2, place: "line 9", placeholder: Placeholder(kind: "cookie", number: 1), spelling: .plain)
        let report = try self.report {
            $0.recorder = RecorderStatus()
            $0.recorder?.leaks = [leak]
            $0.expiry = "it is old"
        }
        #expect(self.json(report).contains(#""leaks": ["\#(leak)"]"#) && self.json(report).contains(#""expired": "it is old""#))
        #expect(report.exitStatus == 6)
    }

    @Test func exitStatusFollowsFailOn() throws {
        let unused = try self.report { $0.failOn = FailureRule([.unused]) }
        #expect(unused.exitStatus == 4 && self.json(unused).contains(#""failOn": "unused""#))
        #expect(
            try self.report {
                $0.failOn = FailureRule([]); $0.verdict.misses = 1
            }.exitStatus == 0)
        #expect(
            try self.report {
                $0.failOn = FailureRule([.order]); $0.verdict.orderViolations = 1
            }.exitStatus == 5)
        #expect(
            try self.report {
                $0.failOn = FailureRule([]); $0.verdict.unserved = 1
            }.exitStatus == 1)
    }

    @Test func theExitCodeIsThatOfARun() throws {
        #expect(try self.report().exitStatus == 0)
        #expect(try self.report { $0.verdict.misses = 1 }.exitStatus == 3)
        #expect(try self.report { $0.counts.unreadable = 1 }.exitStatus == 1)
        #expect(try self.report { $0.problem = "x" }.exitStatus == 1)
        for change: (inout RecorderStatus) -> Void in [{ $0.lost = 1 }, { $0.firstProblem = RecorderProblem(.diskFull, "x") }] {
            let report = try self.report {
                $0.verdict.misses = 1
                var status = RecorderStatus()
                change(&status)
                $0.recorder = status
            }
            #expect(report.exitStatus == 1, "a failure goes before misses")
        }
    }
}
