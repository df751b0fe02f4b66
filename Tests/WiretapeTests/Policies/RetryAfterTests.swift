@testable import TapeBytes
import CassetteModel
import Testing

@testable import Wiretape

@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    private let now = Timestamp(microseconds: 784_111_777_000_000)

    @Test(
        arguments: [
            ("120", .seconds(120)), ("0", .zero), (" 5 ", .seconds(5)), ("99999999999999999999", .seconds(2_147_483_647)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sunday, 06-Nov-94 08:49:38 GMT", .seconds(1)),
            ("Sun Nov  6 08:49:47 1994", .seconds(10)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", .zero), ("-1", nil), ("", nil), ("soon", nil), ("1.5", nil), ("١", nil),
        ] as [(String, Duration?)]) func secondsAndDates(text: String, delay: Duration?)
    {
        #expect(RetryAfter(["Retry-After": text], now: self.now)?.delay == delay)
    }

    @Test func aDateCountsFromTheServersOwnClock() {
        let headers: HTTPHeaders = ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:30 GMT"]
        #expect(RetryAfter(headers, now: self.now)?.delay == .seconds(7))
        #expect(RetryAfter([:], now: self.now) == nil)
    }
}
