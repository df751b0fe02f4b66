import Foundation
import Testing
@testable import TapeProxy

#if os(Linux)
@Suite struct FreeMemoryTests {
    /// Pages that the process has in memory.
    private var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    @Test func smallBlocksThatWereFreedGoBackToTheSystem() {
        let size = 8192
        var blocks = (0..<40_000).map { _ in UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16) }
        for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 1, count: size) }
        let full = self.resident
        // The last one keeps the rest of the heap from shrinking by itself.
        let last = blocks.removeLast()
        for block in blocks { block.deallocate() }
        FreeMemory.giveBack()
        // Half of it at least: other tests use memory meanwhile.
        #expect(full - self.resident > 40_000)
        last.deallocate()
    }
}
#endif
