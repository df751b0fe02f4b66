import Testing
import Wiretape

@Suite struct RequestStateTests {
    @Test func onlyCancelledAndFinishedAreOver() {
        #expect([RequestState.initialized, .resumed, .suspended, .cancelled, .finished].map(\.isOver) == [false, false, false, true, true])
    }
}
