import Testing
@testable import TapeProxy

@Suite struct ProxyErrorTests {
    @Test func itShowsItsMessage() {
        #expect("\(ProxyError(code: .cannotListen, message: "cannot listen"))" == "cannot listen")
        #expect(ProxyError.Code.cannotListen != .remoteNotAllowed)
    }
}
