import Testing

@testable import ClientCapabilities

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
