import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct PNGPixelsTests {
    /// 2 × 2 with alpha, and rows filtered with Sub and Up; created with Python's zlib.
    static let image: [UInt8] = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 2, 0, 0, 0, 2, 8, 6, 0, 0, 0, 114, 182, 13, 36, 0, 0, 0, 25,
        73, 68, 65, 84, 120, 218, 99, 252, 207, 192, 240, 159, 17, 72, 48, 49, 50, 252, 103, 224, 228, 226, 100, 4, 0, 49, 111, 4, 31, 188,
        51, 29, 99, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ]

    /// The same image, filtered with Average and Paeth.
    private static let other: [UInt8] = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 2, 0, 0, 0, 2, 8, 6, 0, 0, 0, 114, 182, 13, 36, 0, 0, 0, 26,
        73, 68, 65, 84, 120, 218, 99, 254, 207, 192, 240, 191, 241, 63, 67, 3, 11, 35, 195, 127, 6, 78, 46, 46, 70, 0, 61, 39, 5, 36, 152,
        103, 121, 1, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ]

    /// 4 × 2 with a palette of four colours in two bits each, and alpha for two of them.
    private static let palette: [UInt8] = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 4, 0, 0, 0, 2, 2, 3, 0, 0, 0, 2, 198, 149, 240, 0, 0, 0, 12,
        80, 76, 84, 69, 255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 81, 67, 31, 235, 0, 0, 0, 2, 116, 82, 78, 83, 255, 128, 8, 15, 179, 106,
        0, 0, 0, 12, 73, 68, 65, 84, 120, 218, 99, 144, 102, 56, 0, 0, 1, 21, 0, 220, 213, 115, 134, 127, 0, 0, 0, 0, 73, 69, 78, 68, 174,
        66, 96, 130,
    ]

    /// 3 × 1 in black and white.
    private static let bits: [UInt8] = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 3, 0, 0, 0, 1, 1, 0, 0, 0, 0, 51, 155, 41, 25, 0, 0, 0, 10,
        73, 68, 65, 84, 120, 218, 99, 88, 0, 0, 0, 162, 0, 161, 113, 5, 203, 65, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ]

    private typealias Pixel = PNGPixels.Pixel
    private static let red = Pixel(red: 255, green: 0, blue: 0, alpha: 255)
    private static let green = Pixel(red: 0, green: 255, blue: 0, alpha: 255)
    private static let blue = Pixel(red: 0, green: 0, blue: 255, alpha: 255)

    @Test(arguments: [Self.image, Self.other]) func rowsAreUnfiltered(image: [UInt8]) {
        #expect(PNGPixels(image)?.pixels == [Self.red, Self.green, Self.blue, Pixel(red: 9, green: 9, blue: 9, alpha: 0)])
    }

    @Test func paletteEntriesOfAFewBitsAreLookedUp() {
        let pixels = PNGPixels(Self.palette)?.pixels
        var half = Self.green
        half.alpha = 128
        let last = Pixel(red: 1, green: 2, blue: 3, alpha: 255)
        #expect(pixels == [Self.red, half, Self.blue, last, last, Self.red, Self.red, Self.red])
    }

    @Test func oneBitIsBlackOrWhite() {
        #expect(PNGPixels(Self.bits)?.pixels.map(\.red) == [255, 0, 255])
    }

    @Test func aDamagedImageHasNoPixels() {
        #expect(PNGPixels([]) == nil)
        #expect(PNGPixels(FormFixtures.png) == nil)
        for count in 0..<Self.image.count - 12 - 4 { #expect(PNGPixels(Array(Self.image.prefix(count))) == nil) }
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            var bytes = Self.other
            bytes[Int.random(in: 8..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            if let pixels = PNGPixels(bytes) { #expect(pixels.pixels.count == pixels.width * pixels.height) }
        }
    }
}
