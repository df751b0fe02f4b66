import COpenSSL
import Testing
@testable import TapeTLS

@Suite struct MemoryBIOTests {
    @Test func holdsWhatItWasGivenAndWhatIsWritten() throws {
        let bio = try MemoryBIO([1, 2, 0, 3])
        let more: [UInt8] = [4, 5]
        #expect(BIO_write(bio.pointer, more, 2) == 2)
        #expect(bio.bytes == [1, 2, 0, 3, 4, 5])
    }

    @Test func anEmptyOneHoldsNothing() throws {
        let bio = try MemoryBIO()
        #expect(bio.bytes.isEmpty)
    }

    @Test func moreThanTheLimitIsRefused() {
        let error = certificateError { _ = try MemoryBIO([UInt8](repeating: 0x20, count: MemoryBIO.limit + 1)) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("16 MiB") == true)
    }
}
