import Testing

@testable import WiretapeCLI

@Suite struct SixelTests {
    @Test func colorsAreDefinedAndThenDrawn() throws {
        let image = try #require(PNGPixels(PNGPixelsTests.image))
        // Blue is 5, green 30, red 180; the fourth pixel is transparent.
        #expect(
            Sixel.sequence(image, widest: 100)
                == "\u{1B}P0;1;0q\"1;1;2;2#5;2;0;0;100#30;2;0;100;0#180;2;100;0;0#5A?$#30?@$#180@?-\u{1B}\\")
    }

    @Test func aWiderImageLeavesPixelsOut() throws {
        let image = try #require(PNGPixels(PNGPixelsTests.image))
        #expect(Sixel.sequence(image, widest: 1) == "\u{1B}P0;1;0q\"1;1;1;1#180;2;100;0;0#180@-\u{1B}\\")
    }
}
