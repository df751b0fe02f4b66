import Testing

@testable import Wiretape

@Suite struct FallbackTransportTests {
    @Test func requestsGoToTheNetworkUnlessTheEnvironmentKeepsThemFromIt() {
        #expect(!FallbackTransport.isOffline([:]))
        #expect(!FallbackTransport.isOffline(["WIRETAPE_OFFLINE": "0"]))
        #expect(FallbackTransport.isOffline(["WIRETAPE_OFFLINE": "1"]))
        #expect(FallbackTransport.transport(around: .shared, isOffline: false) is LiveTransport)
        #expect(FallbackTransport.transport(around: .shared, isOffline: true) is OfflineTransport)
    }
}
