import TapeTrust
import Testing

@Suite struct PinErrorTests {
    @Test func itIsShownByItsMessage() {
        #expect("\(PinError("no port"))" == "no port")
    }
}
