import Testing

@testable import WiretapeTesting

struct CassetteTestErrorTests {
    @Test func isReadAsItsMessage() {
        let error = CassetteTestError(.badMode, "what to do")
        #expect("\(error)" == "what to do")
        #expect("\(error.code)" == "badMode")
        #expect(error.code != .badName)
    }
}
