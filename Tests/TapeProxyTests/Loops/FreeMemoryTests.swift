import Foundation
import TapeBytes
@testable import TapeProxy
import Testing

#if os(Linux)
@Suite struct FreeMemoryTests {
    /// The number of pages that the process has in memory.
    private var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    @Test func smallBlocksThatWereFreedGoBackToTheSystem() {
        let size = 8192
        var blocks = (0..<40_000).map { _ in UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16) }
        for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 1, count: size) }
        let full = self.resident
        // The last block keeps the rest of the heap from shrinking by itself.
        let last = blocks.removeLast()
        for block in blocks { block.deallocate() }
        FreeMemory.giveBack()
        // At least half of it, because other tests use memory meanwhile.
        #expect(full - self.resident > 40_000)
        last.deallocate()
    }
}
#endif

@Suite struct TrimRuleTests {
    @Test func isDueOnceWhenACrowdHasGone() {
        var rule = TrimRule()
        #expect(
            [10, 400, 2000, 900, 501, 499, 100, 0].map { rule.isDue(count: $0) } == [false, false, false, false, false, true, false, false])
    }

    @Test func aFewAreNoCrowd() {
        var rule = TrimRule()
        #expect([TrimRule.crowd - 1, 0].map { rule.isDue(count: $0) } == [false, false])
    }

    @Test func theNextCrowdIsCountedFromZero() {
        var rule = TrimRule()
        #expect([1000, 0, 600, 150, 0].map { rule.isDue(count: $0) } == [false, true, false, true, false])
    }
}
