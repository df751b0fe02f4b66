import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct FilterErrorTests {
    @Test func charactersCountFromOne() {
        #expect(FilterError("~x", at: 0, "no.").message == "--filter \"~x\", character 1: no.")
    }
}
