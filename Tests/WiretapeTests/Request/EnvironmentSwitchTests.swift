import Testing

@testable import Wiretape

@Suite struct EnvironmentSwitchTests {
    @Test(
        arguments: [
            (nil, false), ("", false), ("0", false), ("no", false), ("False", false), ("1", true), ("true", true), ("yes", true),
        ] as [(String?, Bool)])
    func wordsSwitchOnAndOff(value: String?, isOn: Bool) { #expect(EnvironmentSwitch.isOn(value) == isOn) }
}
