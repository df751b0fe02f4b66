import TapeBytes
@testable import TapeProxy
import Testing

@Suite struct FastSHA256Tests {
    @Test func itGivesTheSameAsThePortableOne() {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        for step in [1, 63, 64, 65, 9_999, 10_000] {
            var fast = FastSHA256()
            var portable = PortableSHA256()
            var offset = 0
            while offset < bytes.count {
                bytes[offset..<min(offset + step, bytes.count)].withUnsafeBytes {
                    fast.update($0)
                    portable.update($0)
                }
                offset += step
            }
            #expect(fast.finalize() == portable.finalize())
        }
    }
}
