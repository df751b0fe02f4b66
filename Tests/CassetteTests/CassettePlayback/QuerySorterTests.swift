@testable import CassettePlayback
import TapeTestSupport
import Testing

struct QuerySorterTests {
    private func sorted(_ query: String) -> String {
        var bytes = Array(query.utf8)
        bytes.withUnsafeMutableBytes { QuerySorter.sort($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func sortsItemsByTheirBytes() {
        #expect(self.sorted("b=1&a=2") == "a=2&b=1")
        #expect(self.sorted("a=2&a=1&a") == "a&a=1&a=2")
        #expect(self.sorted("b&&a&") == "&&a&b")
        #expect(self.sorted("a") == "a")
        #expect(self.sorted("") == "")
    }

    @Test(arguments: [2, 31, 32, 33, 1000]) func anyNumberOfItemsIsSortedAlike(count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        let items = (0..<count).map { _ in "k\(Int.random(in: 0..<50, using: &generator))=\(Int.random(in: 0..<9, using: &generator))" }
        let expected = items.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }.joined(separator: "&")
        #expect(self.sorted(items.joined(separator: "&")) == expected)
        #expect(self.sorted(items.shuffled(using: &generator).joined(separator: "&")) == expected)
    }
}
