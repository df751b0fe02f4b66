import Testing

@testable import Wiretape

@Suite struct SessionCoreTransportTests {
    @Test func aTransportOfItsOwnComesFirst() {
        let transport = ScriptedTransport()
        #expect(SessionCore(Session.Configuration(), transport: transport).transportOfNow as? ScriptedTransport === transport)
    }
}
