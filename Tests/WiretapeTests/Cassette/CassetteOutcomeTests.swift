import CassettePlayback
import CassetteStore
import Testing

@testable import Wiretape

@Suite struct CassetteOutcomeTests {
    private func failures(_ verdict: Verdict, order: ReplayOrder = .any, lost: Int = 0, failOn: Set<VerdictFlaw>) -> [String] {
        let report = ReplayReport(cassette: "a", mode: .none, order: order, verdict: verdict, exchanges: [])
        return CassetteOutcome(path: nil, recorded: 0, lost: lost, report: report, failOn: failOn).failures
    }

    @Test func failuresAreThoseThatTheSettingsName() {
        let miss = MissReport(request: "GET /", mode: .none, reason: .notRecorded, audience: .program)
        let verdict = Verdict(misses: 1, reports: [miss], unused: [0])
        #expect(self.failures(verdict, failOn: []) == [])
        #expect(self.failures(verdict, failOn: [.miss]) == ["miss: \(miss.description)"])
        #expect(self.failures(verdict, failOn: [.unused]).count == 1)
    }

    @Test func whatCouldNotBeServedOrWrittenIsAlwaysOne() {
        let unserved = Verdict(unserved: 1, unservedAnswers: [UnservedAnswer(index: 0, problem: "gone")])
        #expect(self.failures(unserved, failOn: []) == ["not served: exchange 1 could not be replayed: gone"])
        #expect(
            self.failures(Verdict(), lost: 2, failOn: [])
                == ["2 recorded exchanges could not be written: free disk space and record again"])
    }
}
