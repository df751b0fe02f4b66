import Testing
import Wiretape

@Suite struct TransportFailureTests {
    @Test func aCancelledRequestIsANetworkFailureOfThatKind() {
        let failure = TransportFailure.cancelled()
        #expect(failure.kind == .network(.cancelled))
        #expect(failure.message == "the request was cancelled")
    }
}
