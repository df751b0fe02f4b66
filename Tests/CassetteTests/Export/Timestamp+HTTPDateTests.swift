@testable import TapeBytes
import Testing

@testable import CassetteFormat
@testable import CassetteModel

@Suite struct TimestampHTTPDateTests {
    @Test(arguments: ["Sat, 21 Nov 2026 04:19:28 GMT", "Sat, 21-Nov-2026 04:19:28 GMT"])
    func datesOfFieldsAndCookiesAreRead(_ text: String) {
        #expect(Timestamp(httpDate: text)?.formatted == "2026-11-21T04:19:28.000000Z")
    }

    @Test func aDayMayHaveOneDigit() {
        #expect(Timestamp(httpDate: "Sun, 1 Nov 2026 04:19:28 GMT")?.formatted == "2026-11-01T04:19:28.000000Z")
    }

    @Test(arguments: [
        "", "0", "Sat, 21 Nov 2026", "Sat, 21 Nov 26 04:19:28 GMT", "Sat, 31 Nov 2026 04:19:28 GMT", "Sat, 21 Foo 2026 04:19:28 GMT",
        "Sat, 21 Nov 2026 04:19:28 CET",
    ])
    func otherTextIsNoDate(_ text: String) {
        #expect(Timestamp(httpDate: text) == nil)
    }
}
