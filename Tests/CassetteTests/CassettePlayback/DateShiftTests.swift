@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

@Suite struct DateShiftTests {
    private let day = DateShift(seconds: 86_400)

    @Test(arguments: [
        ("Sat, 21 Nov 2026 04:19:28 GMT", "Sun, 22 Nov 2026 04:19:28 GMT"),
        ("Mon, 28 Feb 2028 23:59:59 GMT", "Tue, 29 Feb 2028 23:59:59 GMT"),
        ("Thu, 31-Dec-2026 00:00:00 GMT", "Fri, 01-Jan-2027 00:00:00 GMT"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 02 Jan 1970 00:00:00 GMT"),
        ("Tue, 30 Dec 1969 00:00:00 GMT", "Wed, 31 Dec 1969 00:00:00 GMT"),
        ("Saturday, 31-Dec-94 08:49:37 GMT", "Sunday, 01-Jan-95 08:49:37 GMT"), ("Sun Nov  6 08:49:37 1994", "Mon Nov  7 08:49:37 1994"),
    ])
    func httpDatesKeepTheirForm(text: String, moved: String) {
        #expect(self.day.shifted(httpDate: text) == moved)
        #expect(DateShift(seconds: -86_400).shifted(httpDate: moved) == text)
    }

    @Test(arguments: [
        ("2026-11-21T04:19:28Z", "2026-11-22T04:19:28Z"), ("2026-11-21T04:19:28.1Z", "2026-11-22T04:19:28.1Z"),
        ("2026-12-31t23:59:59.123456789z", "2027-01-01t23:59:59.123456789z"),
        ("2026-11-21 04:19:28+05:30", "2026-11-22 04:19:28+05:30"), ("2024-02-28T00:00:00.000-08:00", "2024-02-29T00:00:00.000-08:00"),
    ])
    func rfc3339KeepsSpellingAndPrecision(text: String, moved: String) {
        #expect(self.day.shifted(rfc3339: text) == moved)
        #expect(self.day.shifted(text) == moved)
    }

    @Test(arguments: [
        ("1795234768", "1795321168"), ("1795234768.250", "1795321168.250"), ("1795234768123", "1795321168123"),
        ("9999999999", "10000086399"),
    ])
    func unixTimesAreInSecondsOrMilliseconds(text: String, moved: String) {
        #expect(self.day.shifted(unixTime: text) == moved)
    }

    @Test(arguments: [
        "", "0", "-1", "12", "007952347681", "1795234768.", "1.5e9", "179523476812345678", "yesterday", "2026-11-21", "2026-11-21T04:19Z",
        "2026-11-21T04:19:28", "2026-13-21T04:19:28Z", "2026-11-21T04:19:28.Z", "2026-11-21T04:19:28+0530", "2026-11-21X04:19:28Z",
        "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z",
        "Sat, 21 Nov 2026 04:19:28 UTC", "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3OTUyMzQ3Njh9.c2ln",
    ])
    func textThatIsNoDateIsNotShifted(text: String) {
        #expect(self.day.shifted(text) == nil)
    }

    @Test func distancesStayEqual() throws {
        var generator = Seeded(state: 7)
        for _ in 0..<500 {
            let time = Int64.random(in: 0..<4_000_000_000, using: &generator)
            let shift = DateShift(seconds: Int64.random(in: -1_000_000_000..<1_000_000_000, using: &generator))
            let text = String(Timestamp(microseconds: time * 1_000_000).formatted.prefix(19)) + "Z"
            guard let moved = shift.shifted(rfc3339: text), let read = Timestamp(moved) else { continue }
            #expect(read.microseconds == (time + shift.seconds) * 1_000_000)
            #expect(moved.utf8.count == text.utf8.count)
            #expect(DateShift(seconds: -shift.seconds).shifted(rfc3339: moved) == text)
        }
    }

    @Test func aShiftThatOverflowsMovesNothing() {
        for text in ["2026-11-21T04:19:28Z", "1795234768", "1795234768123"] {
            #expect(DateShift(seconds: .max).shifted(text) == nil)
            #expect(DateShift(seconds: .min).shifted(text) == nil)
        }
    }

    private struct Seeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state ^ self.state >> 29
        }
    }
}

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
    func textThatIsNoDateIsNotParsed(text: String) {
        #expect(WrittenDate(text) == nil)
    }
}
