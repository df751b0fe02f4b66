import Testing
@testable import TapeProxy

@Suite struct SettingSourceTests {
    @Test(
        arguments: [
            (.standard, "default"), (.cassette("a/pets.json"), "a/pets.json"), (.commandLine, "command line"), (.session, "session"),
            (.file("/w/wiretape.yaml", line: 3, section: nil), "/w/wiretape.yaml line 3"),
            (.file("wiretape.yaml", line: 9, section: "pets*"), "wiretape.yaml line 9, for \"pets*\""),
        ] as [(SettingSource, String)])
    func aSourceIsNamed(_ source: SettingSource, _ text: String) {
        #expect(source.description == text)
    }
}
