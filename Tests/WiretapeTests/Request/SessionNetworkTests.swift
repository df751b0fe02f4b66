import Testing

@testable import Wiretape

@Suite struct SessionNetworkTests {
    @Test func whoWantsNothingSharesOneTransport() {
        let network = SessionNetwork(Session.Configuration())
        #expect(network.recorded === LiveTransport.shared)
        #expect(network.unrecorded === LiveTransport.shared)
    }

    @Test func aTransportIsMadeOnce() {
        var configuration = Session.Configuration()
        configuration.serverTrust = ServerTrustManager(rules: [])
        let network = SessionNetwork(configuration)
        #expect(network.recorded !== LiveTransport.shared)
        #expect(network.recorded === network.recorded)
        #expect(network.unrecorded === network.recorded)
    }

    @Test func aCacheHasNoPartInRecordings() {
        var configuration = Session.Configuration()
        configuration.cachedResponseHandler = .cache
        let network = SessionNetwork(configuration)
        #expect(network.recorded === LiveTransport.shared)
        #expect(network.unrecorded !== LiveTransport.shared)
        #expect(network.unrecorded === network.unrecorded)
    }
}
