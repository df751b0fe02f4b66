import Testing
import Wiretape

@Suite struct ServerTrustErrorTests {
    @Test func itShowsAsItsMessage() {
        #expect("\(ServerTrustError(.untrusted, "not trusted"))" == "not trusted")
        #expect("\(ServerTrustError.Code.pinMismatch)" == "pinMismatch")
        #expect(ServerTrustError.Code.noPolicy != .unsupported)
    }
}
