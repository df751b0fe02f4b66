@testable import ClientCapabilities
import Testing

@Suite struct PlatformFactsTests {
    @Test func theSystemIsTheOneThisIsBuiltFor() {
        #if os(Linux)
        #expect(PlatformFacts().system == .linux)
        #else
        #expect(PlatformFacts().system != .linux)
        #endif
    }
}

#if os(Linux)

@Suite struct CurlReadingTests {
    @Test func libraryHasAVersionAndSupportsHTTP() {
        guard let facts = CurlReading.facts() else { return }
        #expect(facts.version.first?.isNumber == true && facts.protocols.contains("http"))
    }

    @Test func factsAreNilWithoutTheLibrary() { #expect(CurlReading.facts(names: ["libno-such-library.so.4"]) == nil) }

    @Test func anotherLibraryIsNil() { #expect(CurlReading.facts(names: ["libc.so.6"]) == nil) }
}
#endif

@Suite struct SwiftReleaseRangeTests {
    private let range = SwiftReleaseRange(from: SwiftRelease(6, 0), before: SwiftRelease(6, 3, 2))

    @Test func itHasItsStartAndNotItsEnd() {
        #expect(self.range.contains(SwiftRelease(6, 0)) && self.range.contains(SwiftRelease(6, 3, 1)))
        #expect(!self.range.contains(SwiftRelease(5, 10)) && !self.range.contains(SwiftRelease(6, 3, 2)))
        #expect(SwiftReleaseRange.all.contains(SwiftRelease(9, 9)))
    }

    @Test func aReleaseThatIsNotKnownMayBeAny() { #expect(self.range.contains(nil)) }

    @Test func itIsDescribedInWords() {
        #expect(SwiftReleaseRange.all.description == "all known releases of Swift")
        #expect(SwiftReleaseRange(before: SwiftRelease(6, 4)).description == "Swift before 6.4")
        #expect(SwiftReleaseRange(from: SwiftRelease(6, 4)).description == "Swift 6.4 and later")
        #expect(self.range.description == "Swift 6.0 up to 6.3.2, which is without it")
    }
}

@Suite struct SwiftReleaseTests {
    @Test(arguments: [
        ("Swift version 6.3.1 (swift-6.3.1-RELEASE)\nTarget: x86_64-unknown-linux-gnu", SwiftRelease(6, 3, 1)), ("6.4", SwiftRelease(6, 4)),
        ("Apple Swift version 6.2.3 (swiftlang-6.2.3.3.21 clang-1700.6.3.2)", SwiftRelease(6, 2, 3)), ("6.3-dev", SwiftRelease(6, 3)),
        ("swift-driver version: 1.127.14.1 Apple Swift version 6.2", SwiftRelease(1, 127, 14)),
    ])
    func theFirstNumberWithADotIsRead(text: String, release: SwiftRelease) { #expect(SwiftRelease(text) == release) }

    @Test(arguments: ["", "Swift", "6", "6.", ".", "v.6.x", "99999999999999999999.1"]) func otherTextsHaveNone(text: String) {
        #expect(SwiftRelease(text) == nil)
    }

    @Test func theyAreOrderedByNumber() {
        let ordered = [SwiftRelease(5, 10), SwiftRelease(6, 0), SwiftRelease(6, 3, 1), SwiftRelease(6, 3, 2), SwiftRelease(6, 10)]
        #expect(ordered.shuffled().sorted() == ordered)
        #expect(ordered.map(\.description) == ["5.10", "6.0", "6.3.1", "6.3.2", "6.10"])
    }
}
