import CassetteModel
@testable import CassetteTools
import Testing
@testable import WiretapeCLI
import TapeTestSupport

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

@Suite struct IndentedTextTests {
    @Test func indentsLinesThatHoldSomething() {
        var text = IndentedText(isLimited: false)
        #expect(text.push("a\n\nb") + text.push("c\n") + text.push("") + text.push("d") == "  a\n\n  bc\n  d")
        #expect(!text.isAtLineStart)
    }

    @Test func aTerminalGetsSoManyLines() {
        var text = IndentedText(isLimited: true)
        let shown = (1...300).map { text.push("\($0)\n") }.joined()
        #expect(shown.hasSuffix("\n  200\n"))
        #expect(text.isCut)
    }

    @Test func exactlyTheLimitIsNotCut() {
        var text = IndentedText(isLimited: true)
        _ = text.push(String(repeating: "x\n", count: IndentedText.lineLimit))
        #expect(!text.isCut)
    }

    @Test func oneLongLineIsCutBetweenCharacters() {
        var text = IndentedText(isLimited: true)
        let shown = text.push(String(repeating: "이", count: 100_000))
        #expect(text.isCut)
        #expect(shown.utf8.count <= IndentedText.byteLimit + 5)
        #expect(shown.hasSuffix("이"))
    }

    @Test func aFileGetsEverything() {
        var text = IndentedText(isLimited: false)
        #expect(text.push(String(repeating: "x\n", count: 5000)).utf8.count == 20_000)
        #expect(!text.isCut)
    }
}

@Suite struct LintPageTests {
    private func page(_ bytes: [UInt8]?, isCoded: Bool = false) throws -> String {
        let sink = TextSink()
        var page = LintPage(screen: .piped, write: sink.write)
        if let bytes {
            let lint = try #require(try BodyLint(BodyContents(bytes), headers: FormFixtures.headers))
            try page.show(lint, exchange: 3, message: .request, request: Interaction.sample(3, "POST").request, isCoded: isCoded)
        }
        try page.finish()
        return sink.text
    }

    @Test func eachDefectIsNamedWithItsOffset() throws {
        #expect(
            try self.page([13, 10] + FormFixtures.pets).hasPrefix(
                """
                exchange 3, request of POST http://a/pets: 2 defects

                  offset 0: there is a line end before the first delimiter, which some servers refuse; begin the body with "--"
                    00000000  0d 0a 2d 2d 2d 2d 2d 2d  77 69 72 65 74 61 70 65  ..------wiretape
                              ^^                                                ^

                """))
        #expect(try self.page([13, 10] + FormFixtures.pets).hasSuffix("\n\n2 defects in 1 upload.\n"))
    }

    @Test func offsetsOfACodedBodyAreExplained() throws {
        #expect(try self.page([13, 10] + FormFixtures.pets, isCoded: true).contains("\n  offsets are those of the decoded body\n"))
    }

    @Test func noProblemIsReported() throws {
        #expect(
            try self.page(Array("------wiretape\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n------wiretape--\r\n".utf8))
                == "exchange 3, request of POST http://a/pets: no defects\nno defects in 1 upload.\n")
        #expect(try self.page(nil) == "no body is an upload: nothing to check.\n")
    }

    @Test func sentencesStayWithinATerminal() throws {
        let sink = TextSink()
        var page = LintPage(screen: .terminal(60, colored: true), write: sink.write)
        let lint = try #require(try BodyLint(BodyContents([13, 10] + FormFixtures.pets), headers: FormFixtures.headers))
        try page.show(lint, exchange: 3, message: .request, request: Interaction.sample(3, "POST").request, isCoded: false)
        #expect(
            sink.text.contains(
                """
                  \u{1B}[33moffset 0\u{1B}[0m: there is a line end before the first delimiter,
                  which some servers refuse; begin the body with "--"

                """))
    }
}

@Suite struct PartsPageTests {
    private func page(_ bytes: [UInt8], _ screen: InspectScreen = .piped) throws -> String {
        let sink = TextSink()
        let parts = try #require(try FormFixtures.parts(bytes))
        try PartsPage(command: "wiretape inspect pets.json 1 --body request", screen: screen, write: sink.write).show(
            parts, in: BodyContents(bytes))
        return sink.text
    }

    @Test func eachPartHasItsHeaderLinesAndItsContent() throws {
        #expect(
            try self.page(FormFixtures.pets) == """

                  part 1, "title", 6 B
                  Content-Disposition: form-data; name="title"
                    이름

                  part 2, "meta", application/json, 14 B
                  Content-Disposition: form-data; name="meta"
                  Content-Type: application/json
                    { "kind": "cat" }

                  part 3, "avatar", file "../../a b.png", image/png, 29 B
                  Content-Disposition: form-data; name="avatar"; filename="../../a b.png"
                  Content-Type: image/png
                    PNG image, 3 × 2

                  part 4, "note", 8 B, in base64
                  Content-Disposition: form-data; name="note"
                  Content-Transfer-Encoding: base64
                    hello

                """)
    }

    @Test func partsWithinPartsAreIndented() throws {
        #expect(try self.page(FormFixtures.nested).contains("\n    part 1.1, text/plain, 4 B\n    Content-Type: text/plain\n      deep\n"))
    }

    @Test func aTerminalGetsTheFirstOfManyParts() throws {
        let many = FormFixtures.body((1...60).map { (["Content-Disposition: form-data; name=\"f\($0)\""], [48]) })
        #expect(
            try self.page(many, .terminal(80)).hasSuffix(
                "    0\n\n  … 10 more parts; for one of them: wiretape inspect pets.json 1 --body request --part N\n"))
        #expect(try self.page(many).contains("part 60, "))
    }

    @Test func noControlOfAPartPasses() throws {
        let evil = FormFixtures.body([
            (["Content-Disposition: form-data; name=\"\u{1B}[2J\u{202E}\"", "X\u{1B}: \u{9B}"], Array("\u{1B}[2J".utf8))
        ])
        let text = try self.page(evil)
        for scalar in text.unicodeScalars where scalar != "\n" {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E)
        }
    }
}
