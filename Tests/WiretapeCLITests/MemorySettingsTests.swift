#if canImport(Glibc) && compiler(>=6.2)
import Glibc
import Testing

@testable import WiretapeCLI

@Suite struct MemorySettingsTests {
    /// Whether malloc has mapped a block: the second bit of its size, in front of it (glibc, malloc/malloc.c).
    private static func isMapped(_ block: UnsafeMutableRawPointer) -> Bool {
        block.load(fromByteOffset: -MemoryLayout<Int>.size, as: Int.self) & 2 != 0
    }

    /// In a process of its own: what other tests free moves the limit too.
    @Test func blocksUpToTheBodySizeComeFromTheHeapAfterwards() async {
        await #expect(processExitsWith: .success) {
            let size = 24 << 20
            let before = try #require(malloc(size))
            #expect(Self.isMapped(before))
            MemorySettings.apply(bodySize: size + 4096)
            let after = try #require(malloc(size))
            #expect(!Self.isMapped(after))
        }
    }
}
#endif
