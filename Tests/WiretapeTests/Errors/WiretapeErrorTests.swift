import CassetteModel
import Testing
import Wiretape

@Suite struct WiretapeErrorTests {
    @Test func messagesAreWhatPeopleSee() {
        let error = WiretapeError(.file, "no room in \"/tmp\": make some")
        #expect("\(error)" == "no room in \"/tmp\": make some")
        #expect(error.localizedDescription == error.message)
        #expect(!error.isCancelled && error.transportFailure == nil && error.networkFailure == nil && error.missReport == nil)
    }

    @Test func theTransportsFailureIsAtHand() {
        let error = WiretapeError(.network, "m", cause: TransportFailure(.network(.reset), "m"))
        #expect(error.networkFailure == .reset)
        #expect(error.transportFailure?.message == "m")
        #expect("\(error.code)" == "network")
    }
}
