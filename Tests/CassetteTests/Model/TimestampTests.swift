import TapeBytes
import CassetteModel
import Testing

@Suite struct TimestampTests {
    @Test func earlierIsLessAlsoBefore1970() {
        let ascending = [Int64.min, -1, 0, 1, .max].map(Timestamp.init(microseconds:))
        #expect(ascending.reversed().sorted() == ascending)
    }

    @Test func anInstantIsNotBeforeItself() {
        let instant = Timestamp(microseconds: 5)
        #expect(!(instant < instant))
        #expect(instant <= instant)
    }
}
