internal import Testing

@testable internal import TapeExchange

@Suite struct MessageSideTests {
    @Test func faultOfTheOriginIsABadGateway() {
        #expect(MessageSide.request.fault(.field, status: 431, "x") == MessageError(.field, status: 431, "x"))
        #expect(MessageSide.response.fault(.field, status: 431, "x") == MessageError(.field, status: 502, "x"))
    }
}
