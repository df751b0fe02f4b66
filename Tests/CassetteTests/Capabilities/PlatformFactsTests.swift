import Testing

@testable import ClientCapabilities

@Suite struct PlatformFactsTests {
    @Test func theSystemIsTheOneThisIsBuiltFor() {
        #if os(Linux)
        #expect(PlatformFacts().system == .linux)
        #else
        #expect(PlatformFacts().system != .linux)
        #endif
    }
}
