import CSHA256
import Testing

@testable import TapeBytes

@Suite struct CRC32Tests {
    @Test func isTheChecksumOfGzip() {
        #expect(Array("123456789".utf8).withUnsafeBytes { CRC32.value(of: $0) } == 0xcbf4_3926)
        #expect(CRC32.value(of: UnsafeRawBufferPointer(start: nil, count: 0)) == 0)
    }

    @Test func goesOnAfterEarlierBytes() {
        let first = Array("1234".utf8).withUnsafeBytes { CRC32.value(of: $0) }
        #expect(Array("56789".utf8).withUnsafeBytes { CRC32.value(of: $0, after: first) } == 0xcbf4_3926)
    }
}

@Suite struct PortableSHA256Tests {
    private func digest(_ bytes: [UInt8], piece: Int = .max) -> String {
        var digest = PortableSHA256()
        var offset = 0
        while offset < bytes.count {
            let end = min(bytes.count, piece == .max ? bytes.count : offset + piece)
            bytes.withUnsafeBytes { digest.update(UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            offset = end
        }
        return Hex.encode(digest.finalize())
    }

    /// NIST, "SHA-256 examples" and the short-message vectors of FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func givesTheDigestsOfTheStandard(_ text: String, _ expected: String) {
        #expect(self.digest(Array(text.utf8)) == expected)
    }

    /// Regardless of which one this machine uses.
    @Test func instructionsAndPlainCodeGiveTheSame() {
        let bytes = (0..<64 * 37).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var states = Array(repeating: (0..<8).map { UInt32($0) &* 0x9e37_79b9 }, count: 2)
        sha256_blocks(&states[0], bytes, 37)
        sha256_blocks_portable(&states[1], bytes, 37)
        #expect(states[0] == states[1] && states[0] != (0..<8).map { UInt32($0) &* 0x9e37_79b9 })
    }

    @Test func aLongMessage() {
        let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        #expect(self.digest(million, piece: 4096) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func piecesOfAnySizeGiveTheSame() {
        for length in [1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 300] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let whole = self.digest(bytes)
            for piece in [1, 3, 63, 64, 65, 100] { #expect(self.digest(bytes, piece: piece) == whole) }
        }
    }
}
