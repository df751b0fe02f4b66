@testable import CassetteFormat
@testable import CassetteModel
import Foundation
@testable import TapeBytes
import TapeTestSupport
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

@Suite struct TimestampHTTPDateTests {
    @Test(arguments: ["Sat, 21 Nov 2026 04:19:28 GMT", "Sat, 21-Nov-2026 04:19:28 GMT"])
    func datesOfFieldsAndCookiesAreRead(_ text: String) {
        #expect(Timestamp(httpDate: text)?.formatted == "2026-11-21T04:19:28.000000Z")
    }

    @Test func aDayMayHaveOneDigit() {
        #expect(Timestamp(httpDate: "Sun, 1 Nov 2026 04:19:28 GMT")?.formatted == "2026-11-01T04:19:28.000000Z")
    }

    @Test(arguments: [
        "", "0", "Sat, 21 Nov 2026", "Sat, 21 Nov 126 04:19:28 GMT", "Sat, 31 Nov 2026 04:19:28 GMT", "Sat, 21 Foo 2026 04:19:28 GMT",
        "Sat, 21 Nov 2026 04:19:28 CET",
    ])
    func otherTextIsNoDate(_ text: String) {
        #expect(Timestamp(httpDate: text) == nil)
    }
}

@Suite struct TimestampTextTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"), (1_795_234_768_123_456, "2026-11-21T04:19:28.123456Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"), (Int64.max, "9999-12-31T23:59:59.999999Z"),
        (Int64.min, "0000-01-01T00:00:00.000000Z"),
    ])
    func timesAreWrittenInUTCWithMicroseconds(_ microseconds: Int64, _ text: String) {
        #expect(Timestamp(microseconds: microseconds).formatted == text)
        #expect(Timestamp(text)?.formatted == text)
    }

    @Test func everyTimeComesBack() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<rounds(5_000) {
            let time = Timestamp(microseconds: Int64.random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &generator))
            #expect(Timestamp(time.formatted) == time)
        }
    }

    @Test func datesAgreeWithFoundation() {
        let formatter = ISO8601DateFormatter()
        for day in stride(from: -30_000, through: 60_000, by: 97) {
            let seconds = day * 86_400 + 4_321
            #expect(
                Timestamp(microseconds: Int64(seconds) * 1_000_000).formatted.replacing(".000000", with: "")
                    == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))))
        }
    }

    @Test func decimalsMayBeFewerOrMore() {
        #expect(Timestamp("1970-01-01T00:00:01Z")?.microseconds == 1_000_000)
        #expect(Timestamp("1970-01-01T00:00:01.5Z")?.microseconds == 1_500_000)
        #expect(Timestamp("1970-01-01T00:00:01.123456789Z")?.microseconds == 1_123_456)
    }

    @Test(arguments: [
        "", "1970-01-01", "1970-01-01T00:00:01", "1970-01-01T00:00:01.Z", "1970-01-01 00:00:01Z", "1970-13-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "1970-04-31T00:00:00Z", "1970-01-00T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z", "1970-01-01T00:00:00.1234567890Z", "1970-01-01T00:00:00+00:00", "-970-01-01T00:00:00Z",
        "1970-01-01T00:00:0é", "1970-01-01T00:00:00.12x456Z",
    ])
    func invalidTimeIsRefused(_ text: String) {
        #expect(Timestamp(text) == nil)
    }
}
