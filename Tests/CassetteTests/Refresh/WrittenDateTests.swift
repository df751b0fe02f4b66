@testable import TapeBytes
import Testing

@testable import CassetteModel
@testable import CassettePlayback

@Suite struct WrittenDateTests {
    private static let spellings = [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ]

    @Test(arguments: Self.spellings)
    func eachSpellingIsReadAndWrittenAgain(text: String) throws {
        let date = try #require(WrittenDate(text))
        #expect(date.time == Timestamp("1994-11-06T08:49:37Z"))
        #expect(date.spelled(date.time) == text)
    }

    @Test func anotherMomentIsSpelledAlike() throws {
        let later = try #require(Timestamp("1994-12-17T23:00:01Z"))
        #expect(
            Self.spellings.map { WrittenDate($0)?.spelled(later) } == [
                "Sat, 17 Dec 1994 23:00:01 GMT", "Sat, 17-Dec-1994 23:00:01 GMT", "Sat, 17-Dec-94 23:00:01 GMT",
                "Saturday, 17-Dec-94 23:00:01 GMT", "Sat Dec 17 23:00:01 1994",
            ])
        #expect(WrittenDate("Sat Dec 17 23:00:01 1994")?.spelled(later) == "Sat Dec 17 23:00:01 1994")
    }

    @Test func aYearOfTwoDigitsIsNearUs() {
        #expect(WrittenDate("Sat, 21-Nov-26 04:19:28 GMT")?.time == Timestamp("2026-11-21T04:19:28Z"))
        #expect(WrittenDate("Fri, 01-Jan-69 00:00:00 GMT")?.time == Timestamp("2069-01-01T00:00:00Z"))
        #expect(WrittenDate("Thu, 01-Jan-70 00:00:00 GMT")?.time == Timestamp("1970-01-01T00:00:00Z"))
    }

    @Test(arguments: [
        "", "0", "-1", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
        "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 36 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nav 1994 08:49:37 GMT", "Sun, 06-Nov 08:49:37 GMT", "Sun Nov 6 08:49:37 1994 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x",
        "Sun, 06-Nov-+4 08:49:37 GMT", "Sun, 06-Nov-1994-1 08:49:37 GMT", "Sün, 06 Nov 1994 08:49:37 GMT",
    ])
    func whatIsNoDateIsNone(text: String) {
        #expect(WrittenDate(text) == nil)
    }
}
