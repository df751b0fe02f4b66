#if canImport(Glibc)
import Glibc
import Testing

@testable import WiretapeCLI

@Suite struct MemorySettingsTests {
    /// Whether malloc has mapped a block: the second bit of its size, in front of it (glibc, malloc/malloc.c).
    private static func isMapped(_ block: UnsafeMutableRawPointer) -> Bool {
        block.load(fromByteOffset: -MemoryLayout<Int>.size, as: Int.self) & 2 != 0
    }

    /// Far above what other tests of this process free, below the 32 MiB where the limit stops to grow.
    @Test func blocksUpToTheBodySizeComeFromTheHeapAfterwards() throws {
        let size = 24 << 20
        let before = try #require(malloc(size))
        // Freed last: freeing it would do what is tested.
        defer { free(before) }
        try #require(Self.isMapped(before))
        MemorySettings.apply(bodySize: size + 4096)
        let after = try #require(malloc(size))
        defer { free(after) }
        #expect(!Self.isMapped(after))
    }
}
#endif
