import Foundation
import Testing

@testable import Wiretape

@Suite struct DateEncodingTests {
    @Test func partsOfASecondAreKeptOrLeftOut() throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000.25)
        #expect(try URLEncodedFormEncoder.DateEncoding.secondsSince1970.encode(date) == "1000000000.25")
        #expect(try URLEncodedFormEncoder.DateEncoding.millisecondsSince1970.encode(date) == "1000000000250.0")
        #expect(try URLEncodedFormEncoder.DateEncoding.iso8601.encode(date) == "2001-09-09T01:46:40Z")
        #expect(try URLEncodedFormEncoder.DateEncoding.deferredToDate.encode(date) == nil)
    }
}
