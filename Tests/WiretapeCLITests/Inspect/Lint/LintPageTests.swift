import CassetteModel
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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
                exchange 3, request of POST http://a/pets: 1 defect

                  offset 0: there is a line end before the first delimiter, which some servers refuse; begin the body with "--"
                    00000000  0d 0a 2d 2d 2d 2d 2d 2d  77 69 72 65 74 61 70 65  ..------wiretape
                              ^^                                                ^

                """))
        #expect(try self.page([13, 10] + FormFixtures.pets).hasSuffix("\n\n1 defect in 1 multipart body.\n"))
    }

    @Test func offsetsOfACodedBodyAreExplained() throws {
        #expect(try self.page([13, 10] + FormFixtures.pets, isCoded: true).contains("\n  offsets are those of the decoded body\n"))
    }

    @Test func nothingWrongIsSaid() throws {
        #expect(
            try self.page(FormFixtures.pets) == "exchange 3, request of POST http://a/pets: no defects\nno defects in 1 multipart body.\n")
        #expect(try self.page(nil) == "no body is multipart: nothing to check.\n")
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
