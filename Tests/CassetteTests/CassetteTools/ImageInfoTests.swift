@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct ImageInfoTests {
    @Test func aPNGTellsItsSizeFirst() {
        #expect(ImageInfo(FormFixtures.png)?.description == "PNG image, 3 × 2")
        #expect(ImageInfo(Array(FormFixtures.png.prefix(20)))?.description == "PNG image, cut short before its size")
    }

    @Test(arguments: [0xC0, 0xC2] as [UInt8]) func aJPEGShowsItAfterOtherSegments(frame: UInt8) {
        let jpeg: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC4, 0, 3, 9, 0xFF, 0xFF, frame, 0, 11, 8, 0x01, 0xE0, 0x02, 0x80, 1, 0, 0, 0]
        #expect(ImageInfo(jpeg)?.description == "JPEG image, 640 × 480")
        for count in 3..<23 { #expect(ImageInfo(Array(jpeg.prefix(count)))?.size == nil) }
    }

    @Test func aJPEGWithoutAFrameHasNoSize() {
        #expect(ImageInfo([0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0])?.size == nil)
        #expect(ImageInfo([0xFF, 0xD8, 0xFF, 0xDA, 0, 2])?.size == nil)
    }

    @Test func aGIFIsLittleEndian() {
        #expect(ImageInfo(Array("GIF89a".utf8) + [0x80, 0x02, 0xE0, 0x01, 0])?.description == "GIF image, 640 × 480")
    }

    @Test(arguments: [
        Array("VP8 ".utf8) + [0, 0, 0, 0, 0, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x42, 0xE0, 0x01],
        Array("VP8L".utf8) + [0, 0, 0, 0, 0x2F, 0x7F, 0xC2, 0x77, 0x00],
        Array("VP8X".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0x02, 0x00, 0xDF, 0x01, 0x00],
    ])
    func aWebPOfEachKindTellsItsSize(chunk: [UInt8]) {
        let webp = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8) + chunk
        #expect(ImageInfo(webp)?.description == "WebP image, 640 × 480")
        #expect(ImageInfo(Array(webp.dropLast()))?.size == nil)
    }

    @Test func otherBytesAreNoImage() {
        for bytes in [[], [0x89, 0x50], Array("GIF90a".utf8), Array("RIFF0000WAVE".utf8)] as [[UInt8]] {
            #expect(ImageInfo(bytes) == nil)
        }
    }

    @Test func anyBytesAfterAMagicNumberAreAccepted() {
        var generator = SeededGenerator(seed: 7)
        for magic in [[0xFF, 0xD8, 0xFF], FormFixtures.png, Array("GIF89a".utf8), Array("RIFF0000WEBPVP8L".utf8)] as [[UInt8]] {
            for _ in 0..<300 {
                let tail = (0..<Int.random(in: 0..<64, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
                #expect(ImageInfo(magic + tail) != nil)
            }
        }
    }
}
