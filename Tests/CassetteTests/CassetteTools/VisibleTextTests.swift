@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("plain text", "plain text"), ("이름 🐈", "이름 🐈"), ("a\u{1B}[31mb", #"a\u{1b}[31mb"#), ("a\tb\r\nc", #"a\tb\r\nc"#),
        ("\u{7F}\0", #"\u{7f}\u{0}"#),
        ("\u{9B}2J", #"\u{9b}2J"#), ("\u{202E}evil\u{2066}", #"\u{202e}evil\u{2066}"#),
        ("\u{2028}\u{E0041}\u{E000}", #"\u{2028}\u{e0041}\u{e000}"#),
        ("👨\u{200D}👩", #"👨\u{200d}👩"#), ("\u{3164}\u{FE0F}", #"\u{3164}\u{fe0f}"#),
    ])
    func aLineSpellsOutWhatATerminalWouldObey(text: String, shown: String) {
        #expect(VisibleText.line(text) == shown)
    }

    @Test func bytesOutsideUTF8ShowByNumber() {
        #expect(VisibleText.line([0x63, 0x61, 0x66, 0xE9, 0x1B]) == #"caf\xe9\u{1b}"#)
    }

    @Test func aBodyKeepsLinesAndTabs() {
        #expect(VisibleText.whole(Array("a\tb\r\nc\nd\re\u{1B}👨\u{200D}👩".utf8), .lines) == "a\tb\nc\nd\\re\\u{1b}👨\u{200D}👩")
    }

    @Test func jsonKeepsItsValue() {
        let text = "{\r\n\t\"a\": \"\u{9B}\u{202E}\u{E0041}이\u{7F}\"}"
        #expect(VisibleText.whole(Array(text.utf8), .json) == "{\n\t\"a\": \"" + #"\u009b\u202e\udb40\udc41이\u007f"}"#)
    }

    @Test func xmlKeepsItsValue() {
        let text = "<a b=\"\u{9B}\u{202E}이\">\u{61C}\r\n\u{85}</a>"
        #expect(VisibleText.whole(Array(text.utf8), .xml) == "<a b=\"&#x9b;&#x202e;이\">&#x61c;\r\n&#x85;</a>")
    }

    /// Bidirectional controls (UAX #9) and C1 controls: each is escaped in every form.
    @Test func noControlOfDirectionAndNoneOfC1IsLeft() {
        let directions: [ClosedRange<UInt32>] = [0x202A...0x202E, 0x2066...0x2069, 0x200E...0x200F, 0x61C...0x61C, 0x80...0x9F]
        for scalar in directions.joined().compactMap(Unicode.Scalar.init) {
            #expect(VisibleText.isHidden(scalar))
            for form in [VisibleText.Form.line, .lines, .json, .xml] {
                let shown = VisibleText.whole(Array("a\(scalar)b".utf8), form)
                #expect(shown.utf8.allSatisfy { $0 < 0x80 } && shown.hasPrefix("a") && shown.hasSuffix("b"), "\(shown)")
            }
        }
        #expect(!"이름 🐈 é".unicodeScalars.contains(where: VisibleText.isHidden))
    }

    /// Letters and marks that are not drawn (Default_Ignorable_Code_Point): fillers, joiners of letters and selectors of variants.
    @Test func noLetterOrMarkThatIsInvisibleIsLeft() {
        let invisible: [ClosedRange<UInt32>] = [
            0x34F...0x34F, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x3164...0x3164, 0xFE00...0xFE0D, 0xFFA0...0xFFA0,
            0xE0100...0xE01EF,
        ]
        for scalar in invisible.joined().compactMap(Unicode.Scalar.init) {
            for form in [VisibleText.Form.line, .lines, .exact, .json, .xml] {
                #expect(VisibleText.whole(Array("a\(scalar)b".utf8), form).utf8.allSatisfy { $0 < 0x80 }, "\(scalar.value)")
            }
        }
        let emoji = "❤\u{FE0F} 👨\u{200D}👩 می\u{200C}خواهم"
        for form in [VisibleText.Form.lines, .json, .xml] { #expect(VisibleText.whole(Array(emoji.utf8), form) == emoji) }
        #expect(VisibleText.whole(Array((emoji + "\r\n\t").utf8), .exact) == #"❤\u{fe0f} 👨\u{200d}👩 می\u{200c}خواهم"# + "\n\t")
    }

    @Test func aSinkOfJSONTakesCharactersInPieces() throws {
        let text = Array("{\"a\": \"\u{202E}이\u{9B}\"}\n".utf8)
        for cut in 0...text.count {
            var shown: [UInt8] = []
            let sink = VisibleText.json(to: { shown += $0 })
            for piece in [text[..<cut], text[cut...]] { try piece.withUnsafeBytes(sink) }
            #expect(String(decoding: shown, as: UTF8.self) == #"{"a": "\u202e이\u009b"}"# + "\n")
        }
    }

    @Test func piecesMakeTheSameTextHoweverTheyAreCut() {
        let text = Array("line\r\nlone\rcr 이름 🐈 \u{202E}x\u{1B}\r\n".utf8) + [0xF0, 0x9F, 0x41, 0xE9]
        let whole = VisibleText.whole(text, .lines)
        for first in 0...text.count {
            for second in first...text.count {
                var visible = VisibleText(.lines)
                var shown = ""
                for piece in [text[..<first], text[first..<second], text[second...]] { shown += piece.withUnsafeBytes { visible.push($0) } }
                shown += visible.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
                #expect(shown == whole)
                #expect(visible.hasEscaped)
            }
        }
    }

    @Test func noRawControlPassesInAnyBytes() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for form in [VisibleText.Form.line, .lines, .json] {
                let shown = VisibleText.whole(bytes, form)
                let isSafe = shown.unicodeScalars.allSatisfy { scalar in
                    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) || form != .line && (scalar == "\n" || scalar == "\t")
                }
                #expect(isSafe)
            }
        }
    }

    @Test func harmlessTextIsSaidToBe() {
        var visible = VisibleText(.lines)
        _ = Array("이름\r\n\t".utf8).withUnsafeBytes { visible.push($0, isLast: true) }
        #expect(!visible.hasEscaped)
    }
}
