@testable import ClientCapabilities
import Testing

@Suite struct CapabilityTableTests {
    @Test func eachSubjectIsSpokenOfSomewhere() {
        #expect(Set(CapabilityTable.rules.map(\.capability.subject)) == Set(Capability.Subject.allCases))
    }

    @Test func everyRuleHasASentenceAndANextStep() {
        for capability in CapabilityTable.rules.map(\.capability) {
            #expect(capability.sentence.hasSuffix("."), "\(capability.title)")
            #expect(capability.sentence.first?.isLowercase == true || capability.sentence.hasPrefix("URL"), "\(capability.sentence)")
            #expect(capability.remedy?.hasSuffix(".") != true, "\(capability.title)")
            let isTold = capability.remedy != nil || capability.state == .yes || capability.subject == .http2
            #expect(isTold, "\(capability.title) has no next step")
            #expect(capability.state != .yes || !capability.isFatal)
        }
    }

    /// Every release has a matching row: none falls between two.
    @Test func noReleaseIsLeftOut() {
        for swift in [nil, SwiftRelease(5, 10), SwiftRelease(6, 3, 1), SwiftRelease(6, 3, 2), SwiftRelease(6, 4), SwiftRelease(7, 0)] {
            let report = CapabilityReport(PlatformFacts(system: .linux, swift: swift))
            #expect(report[.basicChallenge] != nil && report[.trailers] != nil && report[.recordHTTPS] != nil)
        }
    }
}

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
