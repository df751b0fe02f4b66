import Testing

@testable import Wiretape

@Suite struct MediaRangeTests {
    private func includes(_ range: String, _ type: String) -> Bool? {
        guard let range = MediaRange(range), let type = MediaRange(type) else { return nil }
        return range.includes(type)
    }

    @Test(arguments: [
        ("*/*", "a/b", true), ("*", "a/b", true), ("a/*", "a/b", true), ("a/*", "c/b", false), ("A/B", "a/b", true),
        ("a/b", "a/b;c=d", true),
        ("a/b;c=D", "a/b; C=\"d\"", true), ("a/b;c=d", "a/b", false), ("a/b;c=d;q=0.1;x=y", "a/b;c=d", true), ("a/b", "a/b+c", false),
    ]) func rangesAndTypes(range: String, type: String, isWithin: Bool) {
        #expect(self.includes(range, type) == isWithin)
    }

    @Test(arguments: ["", "a", "a/", "/b", "a/b/c", "*/b", "a b/c", "/", ";q=1"]) func whatIsNoRange(text: String) {
        #expect(MediaRange(text) == nil)
    }

    @Test func weightsAndPrecedence() {
        #expect(MediaRange("a/b;q=0.5")?.weight == 0.5 && MediaRange("a/b")?.weight == 1)
        #expect(MediaRange("a/b;q=7")?.weight == 1 && MediaRange("a/b;q=x")?.weight == 1 && MediaRange("a/b;q=-1")?.weight == 0)
        #expect(["*/*", "a/*", "a/b", "a/b;c=d"].compactMap { MediaRange($0)?.precedence } == [0, 1, 2, 3])
    }
}
