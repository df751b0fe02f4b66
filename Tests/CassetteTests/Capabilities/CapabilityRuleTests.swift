import Testing

@testable import ClientCapabilities

@Suite struct CapabilityRuleTests {
    private let rule = CapabilityRule(
        .cache, "t", .no, "s.", releases: SwiftReleaseRange(before: SwiftRelease(6, 4)), systems: [.macOS],
        where: { $0.permitsNamespace == true })

    @Test func allOfItHasToFit() {
        let facts = PlatformFacts(system: .macOS, swift: SwiftRelease(6, 3), permitsNamespace: true)
        #expect(self.rule.fits(facts))
        #expect(!self.rule.fits(PlatformFacts(system: .linux, swift: SwiftRelease(6, 3), permitsNamespace: true)))
        #expect(!self.rule.fits(PlatformFacts(system: .macOS, swift: SwiftRelease(6, 4), permitsNamespace: true)))
        #expect(!self.rule.fits(PlatformFacts(system: .macOS, swift: SwiftRelease(6, 3))))
    }
}
