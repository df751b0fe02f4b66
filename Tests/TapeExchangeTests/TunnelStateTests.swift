internal import Testing

@testable internal import TapeExchange

@Suite struct TunnelStateTests {
    @Test func secondEndClosesBothSides() {
        var state = TunnelState()
        #expect(state.sideEnded(.client) == .closeOutput(.upstream))
        #expect(state.sideEnded(.upstream) == .closeBoth)
    }

    @Test func upstreamMayEndFirst() {
        var state = TunnelState()
        #expect(state.sideEnded(.upstream) == .closeOutput(.client))
        #expect(state.sideEnded(.client) == .closeBoth)
    }

    @Test func sameEndTwiceWaits() {
        var state = TunnelState()
        #expect(state.sideEnded(.client) == .closeOutput(.upstream))
        #expect(state.sideEnded(.client) == .wait)
        #expect(state.sideEnded(.upstream) == .closeBoth)
        #expect(state.sideEnded(.upstream) == .wait)
    }
}
