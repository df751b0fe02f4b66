import Testing

@testable import ClientCapabilities

@Suite struct SwiftReleaseRangeTests {
    private let range = SwiftReleaseRange(from: SwiftRelease(6, 0), before: SwiftRelease(6, 3, 2))

    @Test func itHasItsStartAndNotItsEnd() {
        #expect(self.range.contains(SwiftRelease(6, 0)) && self.range.contains(SwiftRelease(6, 3, 1)))
        #expect(!self.range.contains(SwiftRelease(5, 10)) && !self.range.contains(SwiftRelease(6, 3, 2)))
        #expect(SwiftReleaseRange.all.contains(SwiftRelease(9, 9)))
    }

    @Test func aReleaseThatIsNotKnownMayBeAny() { #expect(self.range.contains(nil)) }

    @Test func itIsToldInWords() {
        #expect(SwiftReleaseRange.all.description == "all known releases of Swift")
        #expect(SwiftReleaseRange(before: SwiftRelease(6, 4)).description == "Swift before 6.4")
        #expect(SwiftReleaseRange(from: SwiftRelease(6, 4)).description == "Swift 6.4 and later")
        #expect(self.range.description == "Swift 6.0 up to 6.3.2, which is without it")
    }
}
