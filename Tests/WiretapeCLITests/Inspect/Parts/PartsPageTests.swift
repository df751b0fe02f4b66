import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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
