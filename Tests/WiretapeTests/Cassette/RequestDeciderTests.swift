import CassettePlayback
import CassetteStore
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct RequestDeciderTests {
    @Test func aFragmentIsNotCompared() {
        #expect(RequestDecider.url(of: .make("GET", "http://a.test/x?y=1#z")) == "http://a.test/x?y=1")
        #expect(RequestDecider.url(of: .make("GET", "http://a.test/")) == "http://a.test/")
    }

    @Test func aRequestWithoutABodyIsDecidedAtOnce() throws {
        let session = try CassetteSession(mode: .passthrough)
        let decider = RequestDecider(session)
        guard case .decided(.forward(records: false)) = decider.begin(.make("GET", "http://a.test/")) else {
            Issue.record("not forwarded")
            return
        }
    }

    @Test func aLargeBodyIsLeftForAnotherThread() throws {
        let folder = try TemporaryFolder()
        let interaction = CassetteFixture.interaction(
            method: "PUT", url: "http://a.test/", requestBody: CassetteFixture.text("x"), body: CassetteFixture.text("y"))
        let decider = try CassetteFixture.cassette([interaction], in: folder).decider
        let request = TransportRequest.make("PUT", "http://a.test/", body: .data(Data(count: RequestDecider.inlineSize + 1)))
        guard case .undecided(let pending) = decider.begin(request) else {
            Issue.record("decided")
            return
        }
        guard case .refuse = decider.decide(pending, request) else {
            Issue.record("not refused")
            return
        }
    }
}

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
