import CassetteModel
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct BodyPageTests {
    private func page(_ bytes: [UInt8], type: String = "text/plain", _ screen: InspectScreen = .piped, known: BodyPage.Known = .nothing)
        throws -> String
    {
        let sink = TextSink()
        try BodyPage(command: "wiretape inspect pets.json 3 --body response", screen: screen, write: sink.write).show(
            BodyContents(bytes), headers: HeaderFields(["Content-Type: \(type)"]), known: known)
        return sink.text
    }

    @Test func jsonIsLaidOut() throws {
        let json = #"{"id":1,"name":"이름\u001b","description":"a sentence that does not fit on the line any more, however hard one tries"}"#
        #expect(
            try self.page(Array(json.utf8), known: .json) == #"""
                  {
                    "id": 1,
                    "name": "이름\u001b",
                    "description": "a sentence that does not fit on the line any more, however hard one tries"
                  }

                """#)
    }

    @Test func textStaysWithItsControlsSpelledOut() throws {
        #expect(try self.page(Array("a\tb\r\n\u{1B}[2J\n".utf8), known: .text) == "  a\tb\n  \\u{1b}[2J\n")
        #expect(try self.page(Array("no line end".utf8)) == "  no line end\n")
    }

    @Test func anEmptyBodyShowsNothing() throws {
        #expect(try self.page([]) == "")
    }

    @Test func otherBytesAreDumped() throws {
        let text = try self.page([UInt8](repeating: 0x89, count: 300))
        #expect(text.split(separator: "\n").count == 17)
        #expect(text.hasPrefix("  00000000  89 89 "))
        #expect(text.hasSuffix("  … the first 256 of 300 bytes; for all of them: wiretape inspect pets.json 3 --body response > FILE\n"))
        #expect(try self.page([1]).split(separator: "\n").count == 1)
    }

    @Test func aTerminalGetsTheBeginningOfALongText() throws {
        let long = Array(String(repeating: "line\n", count: 201).utf8)
        #expect(
            try self.page(long, .terminal(80)).hasSuffix(
                "  line\n  … the beginning; for all of it: wiretape inspect pets.json 3 --body response\n"))
        #expect(try self.page(long).split(separator: "\n").count == 201)
    }

    @Test func aCharacterAcrossPiecesOfALongTextIsWhole() throws {
        let text = String(repeating: "x", count: ByteSource.pieceSize - 1) + "이름"
        #expect(try self.page(Array(text.utf8)) == "  \(text)\n")
    }

    @Test func formsHaveAFieldALine() throws {
        #expect(
            try self.page(Array("a=b%20c&d=%1B&e".utf8), type: "application/x-www-form-urlencoded") == "  a = b c\n  d = \\u{1b}\n  e = \n")
        #expect(
            try self.page(Array("a=b".utf8), type: "application/x-www-form-urlencoded", .terminal(80, colored: true))
                == "  \u{1B}[36ma\u{1B}[0m = b\n")
    }

    @Test func aTerminalGetsColors() throws {
        let colored = InspectScreen.terminal(80, colored: true)
        #expect(try self.page(Array("[1]".utf8), colored, known: .json) == "  [\u{1B}[33m1\u{1B}[0m]\n")
        #expect(try self.page(Array("<a>".utf8), type: "text/html", colored) == "  \u{1B}[36m<a>\u{1B}[0m\n")
        #expect(try self.page(Array("{\"a\":1}\n2".utf8), type: "application/x-ndjson", colored).contains("\u{1B}[36m\"a\"\u{1B}[0m"))
    }

    @Test func imagesAreDescribedAndShownWhereTheyCanBe() throws {
        #expect(try self.page(FormFixtures.png, type: "image/png", .terminal(80)) == "  PNG image, 3 × 2\n")
        var screen = InspectScreen.terminal(80)
        screen.images = .kitty
        #expect(try self.page(FormFixtures.png, type: "image/png", screen).hasPrefix("  PNG image, 3 × 2\n  \u{1B}_Ga=T,f=100,"))
    }

    @Test func textOfAnotherCharsetIsDecoded() throws {
        #expect(try self.page([0xC0, 0xCC, 0xB8, 0xA7], type: "text/plain; charset=euc-kr") == "  이름\n")
        #expect(try self.page([0x7B, 0x22, 0xE9, 0x22, 0x3A, 0x31, 0x7D], type: "application/json; charset=latin1") == "  { \"é\": 1 }\n")
    }
}
