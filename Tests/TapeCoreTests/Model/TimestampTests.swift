import TapeCore
import Testing

@Suite struct TimestampTests {
    @Test func earlierIsLess() {
        #expect(Timestamp(microseconds: -1) < Timestamp(microseconds: 0))
        #expect(!(Timestamp(microseconds: 1) < Timestamp(microseconds: 1)))
    }
}
