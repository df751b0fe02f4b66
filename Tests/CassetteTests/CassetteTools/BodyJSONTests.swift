import CassetteModel
@testable import CassetteTools
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct BodyJSONTests {
    private func json(_ bytes: [UInt8], _ body: Body? = nil) throws -> JSONValue {
        var json = BodyJSON(exchange: 3, message: .request)
        try json.describe(body ?? Body(size: bytes.count, content: .binary(bytes)), FormFixtures.headers, BodyContents(bytes))
        return try JSONDocument(json.finish()).root
    }

    @Test func aBodyIsDescribedWithItsParts() throws {
        let json = try self.json(FormFixtures.pets)
        #expect(json["exchange"]?.int == 3)
        #expect(json["message"]?.string == "request")
        #expect(json["type"]?.string == "multipart/form-data")
        #expect(json["size"]?.int == FormFixtures.pets.count)
        let parts = Array(try #require(json["parts"]).elements)
        #expect(parts.map { $0["part"]?.string } == ["1", "2", "3", "4"])
        #expect(parts.map { $0["filename"]?.string } == [nil, nil, "../../a b.png", nil])
        #expect(parts.last?["headers"]?.elements.compactMap { $0.string }.last == "Content-Transfer-Encoding: base64")
    }

    @Test func anImageHasItsSize() throws {
        var json = BodyJSON(exchange: 1, message: .response)
        try json.describe(Body(size: 1, content: .empty), HeaderFields(), BodyContents(FormFixtures.png))
        let image = try #require(try JSONDocument(json.finish()).root["image"])
        #expect(image["format"]?.string == "PNG")
        #expect(image["width"]?.int == 3)
        #expect(image["height"]?.int == 2)
    }

    @Test func onePartStandsAlone() throws {
        var json = BodyJSON(exchange: 1, message: .request)
        try json.describe(try #require(try FormFixtures.parts(FormFixtures.pets)?["avatar"]), in: BodyContents(FormFixtures.pets))
        let root = try JSONDocument(json.finish()).root
        #expect(root["name"]?.string == "avatar")
        #expect(root["size"]?.int == FormFixtures.png.count)
        #expect(root["image"]?["width"]?.int == 3)
    }

    @Test func problemsAndFilesAreElements() throws {
        var writer = JSONWriter()
        writer.beginArray(.lines)
        BodyJSON.append(BodyLint.Finding("notClosed", offset: 7, "mend it"), exchange: 2, message: .response, to: &writer)
        BodyJSON.append(ExtractedFile(path: "out/a", exchange: 2, message: .response, size: 5), to: &writer)
        writer.endArray()
        let elements = Array(try JSONDocument(writer.bytes).root.elements)
        let problem = try #require(elements.first)
        let file = try #require(elements.last)
        #expect(problem["problem"]?.string == "notClosed")
        #expect(problem["offset"]?.int == 7)
        #expect(file["path"]?.string == "out/a")
        #expect(file["part"]?.string == nil)
    }
}
