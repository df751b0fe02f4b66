import Foundation
import Testing

@testable import Wiretape

@Suite struct TransportEventTests {
    @Test func nothingComesBehindAnEndOrAFailure() {
        #expect(TransportEvent.end.isLast)
        #expect(TransportEvent.failed(.cancelled()).isLast)
        #expect(!TransportEvent.chunk(Data()).isLast)
        #expect(!TransportEvent.sent(1, of: 1).isLast)
    }
}
