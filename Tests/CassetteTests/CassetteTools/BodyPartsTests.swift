import CassetteModel
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct BodyPartsTests {
    private func data(_ bytes: [UInt8]) throws -> [String] {
        try #require(try FormFixtures.parts(bytes)).all.map { String(decoding: bytes[$0.data], as: UTF8.self) }
    }

    @Test func rangesHoldTheData() throws {
        let data = try self.data(FormFixtures.pets)
        #expect(data.count == 4)
        #expect(data[0] == "이름")
        #expect(data[1] == #"{"kind":"cat"}"#)
        #expect(data[3] == "aGVsbG8=")
    }

    @Test func partsWithinPartsFollowTheOneThatHoldsThem() throws {
        let parts = try #require(try FormFixtures.parts(FormFixtures.nested)).all
        #expect(parts.map(\.label) == ["1", "1.1", "2"])
        #expect(parts.map(\.isMultipart) == [true, false, false])
        let data = try self.data(FormFixtures.nested)
        #expect(data[0].hasPrefix("--inner\r\n") && data[0].hasSuffix("--inner--\r\n"))
        #expect(data[1...] == ["deep", "x"])
    }

    @Test func oddDelimitersMoveNothing() throws {
        let odd =
            "ahead\n------wiretape  \nContent-Disposition: form-data; name=a\n\none\r\n------wiretape\r\n\r\ntwo------wiretape--"
        #expect(try self.data(Array(odd.utf8)) == ["one", "two"])
    }

    @Test func theBoundaryThatTheBodyHasIsTakenWhereTheNamedOneIsWrong() throws {
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=other"])
        let parts = try #require(try FormFixtures.parts(FormFixtures.pets, headers))
        #expect(parts.isOfOtherBoundary)
        #expect(parts.all.count == 4)
        #expect(try FormFixtures.parts(FormFixtures.pets)?.isOfOtherBoundary == false)
    }

    @Test func namesAreInTheCharsetThatTheFormNames() throws {
        let field = "------wiretape\r\nContent-Disposition: form-data; name="
        let start = Array("\(field)_charset_\r\n\r\nEUC-KR\r\n\(field)".utf8)
        let parts = try #require(try FormFixtures.parts(start + [0xC0, 0xBD] + Array("\r\n\r\nx\r\n------wiretape--\r\n".utf8)))
        #expect(parts.all.map(\.name) == ["_charset_", "음"])
    }

    @Test func otherBodyHasNoParts() throws {
        #expect(try FormFixtures.parts(Array("a -- b".utf8), HeaderFields(["Content-Type: text/plain"])) == nil)
        #expect(try FormFixtures.parts(Array("nothing".utf8)) == nil)
    }

    @Test func aBodyUnderAnotherTypeHasItsParts() throws {
        let parts = try #require(try FormFixtures.parts(FormFixtures.pets, HeaderFields(["Content-Type: text/plain"])))
        #expect(parts.all.count == 4)
    }

    @Test func aPartIsFoundByNumberOrName() throws {
        let parts = try #require(try FormFixtures.parts(FormFixtures.pets))
        #expect(parts["2"]?.name == "meta")
        #expect(parts["avatar"]?.label == "3")
        #expect(parts["../../a b.png"]?.label == "3")
        #expect(parts["5"] == nil)
    }
}

@Suite struct BodyPartTests {
    private func parts() throws -> [BodyPart] { try #require(try FormFixtures.parts(FormFixtures.pets)).all }

    @Test func wordsNameWhatThereIs() throws {
        #expect(
            try self.parts().map(\.words) == [
                "part 1, \"title\", 6 B", "part 2, \"meta\", application/json, 14 B",
                "part 3, \"avatar\", file \"../../a b.png\", image/png, 29 B", "part 4, \"note\", 8 B, in base64",
            ])
    }

    @Test func aTransferEncodingIsDecodedUnlessRaw() throws {
        let note = try self.parts()[3]
        let body = BodyContents(FormFixtures.pets)
        #expect(try note.contents(in: body).load(limit: 100) == Array("hello".utf8))
        #expect(try note.contents(in: body, raw: true).load(limit: 100) == Array("aGVsbG8=".utf8))
    }
}
