import Testing

@testable import CassettePlayback

struct PlaceholderReaderTests {
    private func read(_ text: String, at start: Int = 0) -> MatchMark.Finding {
        Array(text.utf8).withUnsafeBytes { bytes in
            var reader = PlaceholderReader(bytes, at: start)
            return reader.read()
        }
    }

    @Test func readsOneWhereItStands() {
        #expect(self.read("{{a:1}}b") == .placeholder(end: 7))
        #expect(self.read("x{{a:1}}", at: 1) == .placeholder(end: 8))
        #expect(self.read("{{a;1}}") == MatchMark.Finding.none)
    }

    @Test(arguments: ["{{authorization:12}}", "%7B%7Bauthorization%3A12%7D%7D"]) func anyBeginningNeedsMore(text: String) {
        for count in 0..<text.utf8.count { #expect(self.read(String(text.prefix(count))) == .needsMore, "\(count)") }
        #expect(self.read(text) == .placeholder(end: text.utf8.count))
    }
}
