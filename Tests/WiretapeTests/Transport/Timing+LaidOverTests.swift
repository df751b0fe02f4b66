import CassetteModel
import Testing

@testable import Wiretape

@Suite struct TimingLaidOverTests {
    @Test func whatThePlatformMeasuredGoesBeforeTheTape() {
        var (measured, taped) = (Timing(), Timing())
        (measured.dns, measured.tls) = (1, 2)
        (taped.dns, taped.wait, taped.total) = (3, 4, 5)
        var wanted = Timing()
        (wanted.dns, wanted.tls, wanted.wait, wanted.total) = (1, 2, 4, 5)
        #expect(measured.laidOver(taped) == wanted)
    }
}
