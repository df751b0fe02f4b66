import Foundation
import Testing

@testable import Wiretape

@Suite struct CookieDateTests {
    /// RFC 6265, 5.1.1; 2030-10-21T07:28:00Z is 1918798080.
    @Test(arguments: [
        "Mon, 21 Oct 2030 07:28:00 GMT", "Mon, 21-Oct-2030 07:28:00 GMT", "Monday, 21-Oct-30 07:28:00 GMT", "Mon Oct 21 07:28:00 2030",
        "21 october 2030 7:28:0", "2030 Oct 21 07:28:00", "07:28:00 21-Oct-30",
    ])
    func theWaysOfWritingOneTime(text: String) { #expect(CookieDate.date(text)?.timeIntervalSince1970 == 1_918_798_080) }

    @Test(arguments: [
        ("21 Oct 70 00:00:00", 1970), ("21 Oct 69 00:00:00", 2069), ("21 Oct 99 00:00:00", 1999), ("21 Oct 00 00:00:00", 2000),
    ])
    func twoDigitsOfAYear(text: String, year: Int) throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        #expect(calendar.component(.year, from: try #require(CookieDate.date(text))) == year)
    }

    @Test(arguments: [
        "", "tomorrow", "21 Oct 2030", "Oct 2030 07:28:00", "32 Oct 2030 07:28:00", "31 Feb 2030 07:28:00", "21 Oct 2030 24:00:00",
        "21 Oct 2030 07:60:00", "21 Oct 1600 07:28:00", "21 Foo 2030 07:28:00", "21 Oct 20300 07:28:00", "0 Oct 2030 07:28:00",
    ])
    func whatIsNoDate(text: String) { #expect(CookieDate.date(text) == nil) }
}
