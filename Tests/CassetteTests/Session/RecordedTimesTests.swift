@testable import TapeBytes
import Testing
@testable import CassetteModel
@testable import CassettePlayback

@Suite struct RecordedTimesTests {
    private func interaction(_ timing: Timing, status: Int? = 200, interim: Double? = nil) -> Interaction {
        Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/"),
            interim: interim.map { [InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: $0)] } ?? [],
            response: status.map { RecordedResponse(status: $0) }, timing: timing)
    }

    @Test func thePhasesInFrontAddUp() {
        let timing = Timing(blocked: 1, dns: 2, connect: 4, tls: 8, send: 16, wait: 32, receive: 64, total: 130)
        #expect(RecordedTimes(self.interaction(timing)) == RecordedTimes(head: 63, end: 127))
        #expect(RecordedTimes(self.interaction(Timing(wait: 5))) == RecordedTimes(head: 5, end: 5))
    }

    @Test func withoutPhasesTheTotalOrTheInterimSaysIt() {
        #expect(RecordedTimes(self.interaction(Timing(receive: 30, total: 100))) == RecordedTimes(head: 70, end: 100))
        #expect(RecordedTimes(self.interaction(Timing(), interim: 12)) == RecordedTimes(head: 12, end: 12))
        #expect(RecordedTimes(self.interaction(Timing())) == RecordedTimes(head: 0, end: 0))
    }

    @Test func aFailureComesWhenItWasKnown() {
        #expect(RecordedTimes(self.interaction(Timing(connect: 3, total: 3000), status: nil)) == RecordedTimes(head: 3000, end: 3000))
    }
}
