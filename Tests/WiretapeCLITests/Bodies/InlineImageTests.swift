@testable import CassetteTools
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct InlineImageTests {
    private func sequence(_ bytes: [UInt8], columns: Int = 80, _ kind: ImageProtocol) -> String? {
        ImageInfo(bytes).flatMap { InlineImage($0, bytes, columns: columns, kind)?.sequence }
    }

    private static let wide = Array(FormFixtures.png[..<16]) + [0, 0, 4, 0] + Array(FormFixtures.png[20...])

    @Test func kittyTakesPNGInChunks() {
        #expect(
            self.sequence(FormFixtures.png, .kitty) == "\u{1B}_Ga=T,f=100,q=2,m=0;iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAA=\u{1B}\\")
        let long = self.sequence(FormFixtures.png + [UInt8](repeating: 0, count: 4000), .kitty) ?? ""
        #expect(long.components("\u{1B}_G") == 2)
        #expect(long.hasPrefix("\u{1B}_Ga=T,f=100,q=2,m=1;"))
        #expect(long.contains("\u{1B}_Gm=0;"))
        #expect(self.sequence(Array("GIF89a".utf8) + [1, 0, 1, 0], .kitty) == nil)
    }

    @Test func iTermTakesAnyFormat() {
        #expect(
            self.sequence(Array("GIF89a".utf8) + [1, 0, 1, 0], .iTerm)
                == "\u{1B}]1337;File=inline=1;size=10;preserveAspectRatio=1:R0lGODlhAQABAA==\u{07}")
    }

    @Test func imageThatIsTooWideIsScaledDown() {
        #expect(self.sequence(Self.wide, .kitty)?.contains(",c=80,") == true)
        #expect(self.sequence(Self.wide, columns: 200, .kitty)?.contains("c=") == false)
        #expect(self.sequence(Self.wide, .iTerm)?.contains(";width=80;") == true)
    }

    @Test func sixelNeedsPixels() {
        #expect(self.sequence(FormFixtures.png, .sixel) == nil)
        #expect(self.sequence(PNGPixelsTests.image, .sixel)?.hasPrefix("\u{1B}P0;1;0q\"1;1;2;2#") == true)
    }
}

extension String {
    /// The number of occurrences of a text.
    fileprivate func components(_ text: String) -> Int {
        var count = 0
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { count += 1 }
            rest.removeFirst()
        }
        return count
    }
}

@Suite struct ImageProtocolTests {
    @Test(arguments: [
        (["TERM": "xterm-kitty"], ImageProtocol.kitty), (["TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"], .kitty),
        (["TERM_PROGRAM": "ghostty"], .kitty), (["TERM_PROGRAM": "iTerm.app"], .iTerm), (["LC_TERMINAL": "iTerm2"], .iTerm),
        (["TERM_PROGRAM": "WezTerm"], .iTerm), (["TERM": "foot"], .sixel), (["TERM": "xterm-sixel"], .sixel), (["TERM": "mlterm"], .sixel),
        (["TERM": "xterm-256color"], nil), ([:], nil), (["TERM": "xterm-kitty", "TMUX": "/tmp/x"], nil),
        (["TERM": "screen", "STY": "1", "LC_TERMINAL": "iTerm2"], nil), (["TERM": "dumb", "KITTY_WINDOW_ID": "1"], nil),
    ])
    func goesByTheEnvironment(environment: [String: String], kind: ImageProtocol?) {
        #expect(ImageProtocol { environment[$0] } == kind)
    }
}

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
