import Testing

@testable import TapeProxy

@Suite struct RetryAfterTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    /// The three forms of RFC 9110, 5.6.7.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-94 08:50:07 GMT", "Sun Nov  6 08:50:07 1994", " \tSun, 06 Nov 1994 08:50:07 GMT ",
    ])
    func aDateIsATimeAfterTheAnswers(value: String) throws {
        let wait = try #require(RetryAfter(value, date: Self.date))
        #expect(wait.time == .seconds(30) && wait.isDate)
        #expect(RetryAfter(value, date: "Sunday, 06-Nov-94 08:49:37 GMT") == wait)
    }

    @Test func aDateThatIsOverAsksForNoWait() {
        #expect(RetryAfter("Sun, 06 Nov 1994 08:00:00 GMT", date: Self.date)?.time == .zero)
    }

    @Test(arguments: ["0", "30", " 30", "1000000"]) func secondsAreAWait(value: String) {
        #expect(RetryAfter(value, date: nil)?.isDate == false)
        #expect(RetryAfter("30", date: nil)?.time == .seconds(30))
    }

    @Test(arguments: ["", "-1", "+1", "1.5", "30s", "1000001", "99999999999999999999", "tomorrow", "Sun, 06 Nov 1994"])
    func anythingElseIsNone(value: String) {
        #expect(RetryAfter(value, date: Self.date) == nil)
    }

    @Test(arguments: [nil, "", "now"]) func aDateWithoutTheAnswersIsNone(date: String?) {
        #expect(RetryAfter("Sun, 06 Nov 1994 08:50:07 GMT", date: date) == nil)
    }
}
