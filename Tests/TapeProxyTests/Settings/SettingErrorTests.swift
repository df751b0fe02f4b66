import Testing
@testable import TapeProxy

@Suite struct SettingErrorTests {
    @Test func itSaysItsMessage() {
        #expect("\(SettingError("\"x\" is no duration"))" == "\"x\" is no duration")
    }
}
