import Testing

@testable import Wiretape

@Suite struct FallbackTransportTests {
    @Test func requestsGoToTheNetworkUnlessTheEnvironmentKeepsThemFromIt() {
        #expect(FallbackTransport.transport(environment: [:]) is LiveTransport)
        #expect(FallbackTransport.transport(environment: ["WIRETAPE_OFFLINE": "0"]) is LiveTransport)
        #expect(FallbackTransport.transport(environment: ["WIRETAPE_OFFLINE": "1"]) is OfflineTransport)
    }
}
