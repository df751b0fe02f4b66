import CassetteModel
import Foundation
@testable import TapeBytes
import Testing
@testable import Wiretape

@Suite struct DurationTextTests {
    @Test(arguments: [0, 0.001, 0.25, 1, 1234.567, -5, 3.1e12])
    func millisecondsGoThereAndBack(value: Double) {
        #expect(abs(Duration(milliseconds: value).milliseconds - value) <= abs(value) * 1e-12)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300])
    func anyFigureIsSomeDuration(value: Double) { #expect(abs(Duration(milliseconds: value).milliseconds) <= 3.2e12) }

    @Test func secondsHaveThreeDecimals() {
        #expect(Duration.milliseconds(1502).secondsText == "1.502")
        #expect(Duration.microseconds(400).secondsText == "0.000")
    }

    @Test func aDateIsATimestamp() {
        #expect(Timestamp(Date(timeIntervalSince1970: 1.5)).microseconds == 1_500_000)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e300)).microseconds == .max)
        #expect(Timestamp(Date(timeIntervalSince1970: -1e300)).microseconds == .min)
    }
}
