import Testing

@testable import CassettePlayback

struct FacetHashTests {
    private func path(_ parent: UInt64, _ name: String, _ ordinal: Int = 0) -> UInt64 {
        Array(name.utf8).withUnsafeBytes { FacetHash.path(parent, $0, ordinal: ordinal) }
    }

    private func value(_ path: UInt64, _ tag: FacetHash.Tag, _ value: String) -> UInt64 {
        Array(value.utf8).withUnsafeBytes { FacetHash.value(path, tag, $0) }
    }

    @Test func everythingInAHashCounts() {
        #expect(self.path(0, "a") == self.path(0, "a"))
        #expect(Set([self.path(0, "a"), self.path(1, "a"), self.path(0, "b"), self.path(0, "a", 1), self.path(0, "")]).count == 5)
        #expect(self.value(0, .string, "a") == self.value(0, .string, "a"))
        #expect(
            Set([self.value(0, .string, "1"), self.value(0, .number, "1"), self.value(1, .string, "1"), self.value(0, .string, "")]).count
                == 4)
    }
}
