import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct BodyPartTests {
    private func parts() throws -> [BodyPart] { try #require(try FormFixtures.parts(FormFixtures.pets)).all }

    @Test func wordsNameWhatThereIs() throws {
        #expect(
            try self.parts().map(\.words) == [
                "part 1, \"title\", 6 B", "part 2, \"meta\", application/json, 14 B",
                "part 3, \"avatar\", file \"../../a b.png\", image/png, 29 B", "part 4, \"note\", 8 B, in base64",
            ])
    }

    @Test func aTransferEncodingIsTakenOffUnlessRaw() throws {
        let note = try self.parts()[3]
        let body = BodyContents(FormFixtures.pets)
        #expect(try note.contents(in: body).load(limit: 100) == Array("hello".utf8))
        #expect(try note.contents(in: body, raw: true).load(limit: 100) == Array("aGVsbG8=".utf8))
    }
}
