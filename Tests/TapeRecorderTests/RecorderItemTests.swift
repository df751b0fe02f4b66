import TapeTestSupport
import Testing
@testable import TapeRecorder

@Suite struct RecorderItemTests {
    @Test func whoeverWaitsMakesItUrgent() {
        #expect(!RecorderItem.exchange(TapedExchanges.simple(1), stored: nil).isUrgent)
        #expect(RecorderItem.exchange(TapedExchanges.simple(1), stored: { _ in }).isUrgent)
        #expect(!RecorderItem.block(exchange: 1, side: .request, bytes: [1]).isUrgent)
    }

    @Test func itWeighsItsOctets() {
        #expect(RecorderItem.block(exchange: 1, side: .request, bytes: [1, 2, 3]).weight == 3)
        #expect(RecorderItem.exchange(TapedExchanges.simple(1, body: "hello"), stored: nil).weight == 517)
    }
}
