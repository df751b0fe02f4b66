import Testing
import Wiretape

@Suite struct AuthenticationErrorTests {
    @Test func itShowsAsItsMessage() {
        #expect("\(AuthenticationError(.missingCredential, "no credential"))" == "no credential")
        #expect("\(AuthenticationError.Code.excessiveRefresh)" == "excessiveRefresh")
        #expect(AuthenticationError.Code.missingCredential != .excessiveRefresh)
    }
}
