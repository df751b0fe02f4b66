import Testing
@testable import TapeProxy

@Suite struct ReadAheadTests {
    @Test func nothingIsReadAheadAtFirst() {
        let ahead = ReadAhead()
        #expect(!ahead.isRead && ahead.body == nil && !ahead.toldToGoOn)
    }
}
