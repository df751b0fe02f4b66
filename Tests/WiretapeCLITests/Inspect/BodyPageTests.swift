import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct BodyPageTests {
    private func page(_ content: BodyContent, size: Int = 1, type: String = "text/plain", _ screen: InspectScreen = .piped) throws -> String
    {
        let sink = TextSink()
        let body = Body(size: size, content: content)
        let headers = HeaderFields(["Content-Type: \(type)"])
        let contents = try BodyContents(body, headers: headers, reader: BodyReader(cassettePath: "/nowhere/pets.json"))
        try BodyPage(command: "wiretape inspect pets.json 3 --body response", screen: screen, write: sink.write).show(
            contents, of: body, headers: headers)
        return sink.text
    }

    @Test func jsonIsLaidOut() throws {
        let json = #"{"id":1,"name":"이름\u001b","description":"a sentence that does not fit on the line any more, however hard one tries"}"#
        #expect(
            try self.page(.json(Array(json.utf8), style: .compact)) == #"""
                  {
                    "id": 1,
                    "name": "이름\u001b",
                    "description": "a sentence that does not fit on the line any more, however hard one tries"
                  }

                """#)
    }

    @Test func textStaysWithItsControlsSpelledOut() throws {
        #expect(try self.page(.text(Array("a\tb\r\n\u{1B}[2J\n".utf8))) == "  a\tb\n  \\u{1b}[2J\n")
        #expect(try self.page(.text(Array("no line end".utf8))) == "  no line end\n")
    }

    @Test func anEmptyBodyShowsNothing() throws {
        #expect(try self.page(.empty, size: 0) == "")
    }

    @Test func otherOctetsAreDumped() throws {
        let text = try self.page(.binary([UInt8](repeating: 0x89, count: 300)), size: 300)
        #expect(text.split(separator: "\n").count == 17)
        #expect(text.hasPrefix("  00000000  89 89 "))
        #expect(text.hasSuffix("  … the first 256 of 300 octets; for all of them: wiretape inspect pets.json 3 --body response > FILE\n"))
        #expect(try self.page(.binary([1])).split(separator: "\n").count == 1)
    }

    @Test func aTerminalGetsTheBeginningOfALongText() throws {
        let long = BodyContent.text(Array(String(repeating: "line\n", count: 201).utf8))
        #expect(
            try self.page(long, .terminal(80)).hasSuffix(
                "  line\n  … the beginning; for all of it: wiretape inspect pets.json 3 --body response\n"))
        #expect(try self.page(long).split(separator: "\n").count == 201)
    }

    @Test func aCharacterAcrossPiecesOfALongTextIsWhole() throws {
        let text = String(repeating: "x", count: OctetSource.pieceSize - 1) + "이름"
        #expect(try self.page(.text(Array(text.utf8))) == "  \(text)\n")
    }

    @Test func octetsOfAFileDecideHowItIsShown() throws {
        func isText(_ octets: [UInt8]) throws -> Bool {
            try BodyPage.isText(
                BodyContents(Body(size: 1, content: .binary(octets)), headers: HeaderFields(), reader: BodyReader(cassettePath: "x")))
        }
        #expect(try isText(Array("이름\r\n\t".utf8)))
        #expect(try !isText(Array("a\u{1B}".utf8)))
        #expect(try !isText([0x61, 0xEC, 0x9D]))
        #expect(try !isText([0x89, 0x50]))
    }
}
