import Foundation
import NIOCore
import Testing
@testable import TapeProxy

@Suite struct WallClockTests {
    @Test func itTellsTheTimeAndItsDifferences() {
        let clock = WallClock()
        let now = NIODeadline.now()
        let told = Double(clock.timestamp(at: now).microseconds) / 1e6
        #expect(abs(told - Date().timeIntervalSince1970) < 5)
        #expect(clock.timestamp(at: now + .microseconds(1500)).microseconds - clock.timestamp(at: now).microseconds == 1500)
    }
}
