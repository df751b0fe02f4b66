import CassetteModel
import CassetteStore
import TapeBytes
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct BodyExtractionTests {
    private let temporary: TemporaryFolder

    init() throws { self.temporary = try TemporaryFolder() }

    /// - Returns: the names of the files, and what was told of them.
    private func extract(_ interaction: Interaction) throws -> (names: [String], told: [ExtractedFile]) {
        var told: [ExtractedFile] = []
        let extraction = BodyExtraction(
            folder: try ExtractFolder(self.temporary.file("out"), overwrites: false), reader: BodyReader(cassettePath: "/nowhere/pets.json")
        )
        try extraction.extract(interaction, number: 3) { told.append($0) }
        return (try self.temporary.names(in: "out"), told)
    }

    @Test func everyPartAndBodyGetsAFile() throws {
        var upload = FormFixtures.upload(FormFixtures.pets)
        upload.response?.body = Body(size: 2, content: .json(Array("{}".utf8), style: .compact))
        let result = try self.extract(upload)
        #expect(
            result.names == [
                "3-request-1-title.txt", "3-request-2-meta.json", "3-request-3-a b.png", "3-request-4-note.txt", "3-request.multipart",
                "3-response.json",
            ])
        #expect(try self.temporary.read("out/3-request.multipart") == FormFixtures.pets)
        #expect(try self.temporary.read("out/3-request-3-a b.png") == FormFixtures.png)
        #expect(try self.temporary.read("out/3-request-4-note.txt") == Array("hello".utf8))
        #expect(result.told.map(\.part) == [nil, "1", "2", "3", "4", nil])
        #expect(result.told[3].words == "PNG image, 3 × 2")
    }

    @Test func partsOfOneNameDoNotMeet() throws {
        let head = ["Content-Disposition: form-data; name=\"a\"; filename=\"a.txt\""]
        let names = try self.extract(FormFixtures.upload(FormFixtures.body([(head, [65]), (head, [66])]))).names
        #expect(names == ["3-request-1-a.txt", "3-request-2-a.txt", "3-request.multipart"])
    }

    @Test(
        arguments: [
            ("text/html", [60], "html"), ("", Array("{}".utf8), "json"), ("", [0, 1], "bin"), ("", FormFixtures.png, "png"),
            ("", [65], "txt"),
            ("image/jpeg", [0xFF, 0xD8], "jpg"),
        ] as [(String, [UInt8], String)])
    func theExtensionSaysWhatItHolds(type: String, bytes: [UInt8], ending: String) throws {
        let interaction = Interaction.sample(type: type.isEmpty ? nil : type, body: Body(size: bytes.count, content: .binary(bytes)))
        #expect(try self.extract(interaction).names == ["3-response.\(ending)"])
    }

    @Test func bytesThatKeepTheirCodingSaySo() throws {
        var interaction = Interaction.sample(type: "text/html", body: Body(size: 1, content: .binary([1])))
        interaction.response?.headers.append(name: "Content-Encoding", value: "gzip")
        #expect(try self.extract(interaction).names == ["3-response.html.gz"])
        interaction.response?.headers = HeaderFields(["Content-Encoding: ../../x, y"])
        #expect(try self.extract(interaction).names == ["3-response.bin.x.y", "3-response.html.gz"])
    }

    @Test func emptyBodiesGetNone() throws {
        #expect(try self.extract(.sample(body: Body(size: 0, content: .empty))).names == [])
    }

    @Test func aBodyWhoseCodingBreaksIsWrittenAsFarAsItCanBeReadAndAsReceived() throws {
        let broken = BrokenGzip.bytes
        var interaction = Interaction.sample(type: "text/plain", body: Body(size: broken.count, content: .binary(broken)))
        interaction.response?.headers.append(name: "Content-Encoding", value: "gzip")
        interaction.response?.body?.note = "content coding is not taken off"
        let result = try self.extract(interaction)
        #expect(result.names == ["3-response.txt", "3-response.txt.gz"])
        #expect(try self.temporary.read("out/3-response.txt") == Array("abc".utf8))
        #expect(try self.temporary.read("out/3-response.txt.gz") == broken)
        #expect(result.told.map(\.words) == ["text/plain, gzip breaks at byte 15 of 23: wrong gzip checksum", "as received"])
    }
}
