import CassettePlayback
import Testing

@testable import WiretapeCLI
import TapeTestSupport

@Suite struct InspectionCurlTests {
    private let folder: TemporaryFolder
    private let sink = TextSink()

    init() throws { self.folder = try TemporaryFolder() }

    private func inspection(_ text: String) throws -> Inspection {
        let path = try self.folder.write(cassetteText([text]), to: "pets.json")
        return Inspection(
            cassette: try RecordedCassette(path: path), file: "my pets.json", screen: .piped, write: { self.sink.write($0) }, warn: { _ in }
        )
    }

    @Test func filesAreWrittenWhereAskedFor() throws {
        let out = self.folder.file("out")
        try self.inspection(uploadText(FormFixtures.pets)).curl(1, files: out, overwrites: false)
        #expect(try self.folder.names(in: "out") == ["1-request-3-a b.png"])
        #expect(try self.folder.read("out/1-request-3-a b.png") == FormFixtures.png)
        #expect(self.sink.text.contains("-F 'avatar=@\"\(out)/1-request-3-a b.png\";"))
        #expect(!self.sink.text.contains("#"))
    }

    @Test func withoutAFolderACommentSaysHow() throws {
        try self.inspection(uploadText(FormFixtures.pets)).curl(1, files: nil, overwrites: false)
        #expect(
            self.sink.lines[0]
                == "# first, for the files that it sends: wiretape show 'my pets.json' 1 --curl --files wiretape-1 > /dev/null")
    }

    @Test func aCodedBodyIsWrittenWithItsCoding() throws {
        let body = #"{ "size": 3, "base64": "AAEC" }"#
        try self.inspection(interactionText(1, requestBody: body)).curl(1, files: self.folder.file("out"), overwrites: false)
        #expect(try self.folder.read("out/1-request.bytes") == [0, 1, 2])
    }

    @Test func noFolderIsMadeWhereNoFileIsNeeded() throws {
        try self.inspection(interactionText(1)).curl(1, files: self.folder.file("out"), overwrites: false)
        #expect(!self.folder.exists("out"))
    }
}
