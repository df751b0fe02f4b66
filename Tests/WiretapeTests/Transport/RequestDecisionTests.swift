import CassettePlayback
import CassetteStore
import Testing

@testable import Wiretape

@Suite struct RequestDecisionTests {
    @Test func aMissFailsWithItsReport() {
        let report = MissReport(request: "GET http://a.test/", mode: .none, reason: .notRecorded, audience: .program)
        guard case .refuse(let failure) = RequestDecision(.refuse(report)) else {
            Issue.record("not refused")
            return
        }
        #expect(failure.kind == .noMatch(report))
        #expect(failure.message == report.description)
    }
}
