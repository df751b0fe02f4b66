import Testing

@testable import CassetteModel

struct MagicNumberTests {
    private func sniff(_ bytes: [UInt8]) -> String? { bytes.withUnsafeBytes(MagicNumber.fileExtension(of:)) }

    @Test func filesAreKnownByTheirFirstBytes() {
        #expect(self.sniff([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]) == "png")
        #expect(self.sniff([0xff, 0xd8, 0xff, 0xe0]) == "jpg")
        #expect(self.sniff(Array("RIFF....WEBPVP8 ".utf8)) == "webp")
        #expect(self.sniff([0, 0, 0, 32] + Array("ftypisom".utf8)) == "mp4")
        #expect(self.sniff([UInt8](repeating: 1, count: 257) + Array("ustar".utf8)) == "tar")
        #expect(self.sniff(CodingFixtures.gzip6) == "gz")
    }

    @Test func shortOrUnknownBytesAreNothing() {
        #expect(self.sniff([]) == nil)
        #expect(self.sniff([0x89]) == nil)
        #expect(self.sniff([UInt8](repeating: 7, count: 600)) == nil)
    }
}
