import TapeTrust
import Testing

@Suite struct HostPatternErrorTests {
    @Test func itIsShownByItsMessage() {
        #expect("\(HostPatternError("no port"))" == "no port")
    }
}
