import Testing

@testable import CassetteModel
@testable import CassettePlayback

@Suite struct LiveDatesTests {
    private let dates = LiveDates(DateShift(seconds: 86_400))

    private func recorded(_ lines: String...) -> [String]? {
        self.dates.recorded(HeaderFields(lines)).map { fields in
            (0..<fields.count).map { String(decoding: fields.line(at: $0), as: UTF8.self) }
        }
    }

    @Test func datesOfConditionsGoBack() {
        #expect(
            self.recorded(
                "If-Modified-Since: Sun, 22 Nov 2026 04:19:28 GMT", "if-unmodified-since:Sun, 22 Nov 2026 04:19:28 GMT",
                "If-Range: Sun, 22 Nov 2026 04:19:28 GMT", "Date: Sun, 22 Nov 2026 04:19:28 GMT") == [
                    "If-Modified-Since: Sat, 21 Nov 2026 04:19:28 GMT", "if-unmodified-since:Sat, 21 Nov 2026 04:19:28 GMT",
                    "If-Range: Sat, 21 Nov 2026 04:19:28 GMT", "Date: Sun, 22 Nov 2026 04:19:28 GMT",
                ])
    }

    @Test func whatHoldsNoDateStays() {
        #expect(self.recorded("Accept: */*") == nil)
        #expect(self.recorded("If-Range: \"etag\"", "If-Modified-Since: yesterday") == nil)
    }

    @Test func theyAreWhatRefreshedAnswersSaid() throws {
        for step in -200...200 {
            let shift = DateShift(seconds: Int64(step) * 4_999_999)
            let line = "Last-Modified: Sat, 21 Nov 2026 04:19:28 GMT"
            let refreshed = DateRefresh.refreshed(HeaderFields([line]), shift)
            let asked = HeaderFields(["If-Modified-Since: " + refreshed.value(at: 0)])
            let back = LiveDates(shift).recorded(asked) ?? asked
            #expect(back.value(at: 0) == "Sat, 21 Nov 2026 04:19:28 GMT")
        }
    }
}
