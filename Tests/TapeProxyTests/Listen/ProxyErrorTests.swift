@testable import TapeProxy
import Testing

@Suite struct ProxyErrorTests {
    @Test func itShowsItsMessage() {
        #expect("\(ProxyError(.cannotListen, "cannot listen"))" == "cannot listen")
        #expect(ProxyError.Code.cannotListen != .remoteNotAllowed)
    }
}
