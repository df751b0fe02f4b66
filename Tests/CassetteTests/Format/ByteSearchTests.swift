import TapeBytes
import Testing

@Suite struct ByteSearchTests {
    private func finds(_ needle: StaticString, in text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { ByteSearch.contains(needle, in: $0) }
    }

    @Test func itFindsAtBothEndsAndAfterFalseStarts() {
        #expect(self.finds("abc", in: "abc..."))
        #expect(self.finds("abc", in: "...abc"))
        #expect(self.finds("abc", in: "ababc"))
        #expect(self.finds("aab", in: "aaaab"))
        #expect(self.finds("a", in: "a"))
    }

    @Test func itDoesNotReadBeyondTheEnd() {
        #expect(!self.finds("abc", in: "ab"))
        #expect(!self.finds("abc", in: "xxab"))
        #expect(!self.finds("abc", in: ""))
        #expect(!self.finds("", in: "abc"))
        #expect(!self.finds("abc", in: "ABC"))
    }
}
