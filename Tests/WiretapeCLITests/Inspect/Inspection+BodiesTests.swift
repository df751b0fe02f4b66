import CassettePlayback
import TapeBytes
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct InspectionBodiesTests {
    private let folder: TemporaryFolder
    private let sink = TextSink()
    private let warnings = TextSink()

    init() throws { self.folder = try TemporaryFolder() }

    private func inspection(_ interactions: [String], filter: String? = nil) throws -> Inspection {
        let path = try self.folder.write(cassetteText(interactions), to: "pets.json")
        var inspection = Inspection(
            cassette: try RecordedCassette(path: path), file: "pets.json", screen: .piped, write: { self.sink.write($0) },
            warn: self.warnings.write)
        if let filter { inspection.filter = ExchangeFilter(try FilterParser.parse(filter), reader: inspection.reader) }
        return inspection
    }

    private var some: [String] {
        [uploadText([13, 10] + FormFixtures.pets), interactionText(2, second: 1, responseBody: #"{ "text": "plain" }"#)]
    }

    @Test func lintLooksAtAllExchangesOrOne() throws {
        try self.inspection(self.some).lint(nil)
        #expect(self.sink.text.hasPrefix("exchange 1, request of POST http://a/pets: 1 defect\n"))
        #expect(self.sink.text.hasSuffix("1 defect in 1 multipart body.\n"))
        self.sink.bytes = []
        try self.inspection(self.some).lint(2)
        #expect(self.sink.text == "no body is multipart: nothing to check.\n")
    }

    @Test func lintAsJSONIsAnArray() throws {
        try self.inspection(self.some).lintJSON(nil)
        let problems = try JSONDocument(self.sink.bytes).root.elements
        #expect(problems.map { $0["problem"]?.string } == ["lineEndBeforeFirst"])
        self.sink.bytes = []
        try self.inspection(self.some).lintJSON(2)
        #expect(self.sink.text == "[]\n")
    }

    @Test func extractsAllOrOne() throws {
        let out = self.folder.file("out")
        try self.inspection(self.some).extract(2, to: out, overwrites: false, json: false)
        #expect(self.sink.text == "\(out)/2-response.txt  5 B\n1 file in \"\(out)\".\n")
        self.sink.bytes = []
        try self.inspection(self.some).extract(nil, to: out, overwrites: true, json: true)
        #expect(try JSONDocument(self.sink.bytes).root.elements.map { $0["path"]?.string }.count == 6)
        #expect(try self.folder.names(in: "out").count == 6)
    }

    @Test func theFilterChoosesWhatIsExtracted() throws {
        try self.inspection(self.some, filter: "~bs plain").extract(nil, to: self.folder.file("out"), overwrites: false, json: false)
        #expect(try self.folder.names(in: "out") == ["2-response.txt"])
    }

    @Test func aMissingBodyDoesNotHideTheOthers() throws {
        let missing = interactionText(
            1, responseBody: #"{ "size": 3, "file": "pets.bodies/x.txt", "sha256": "\#(String(repeating: "a", count: 64))" }"#)
        let inspection = try self.inspection([missing, interactionText(2, second: 1, responseBody: #"{ "text": "x" }"#)])
        #expect(throws: InspectError.self) { try inspection.extract(nil, to: self.folder.file("out"), overwrites: false, json: false) }
        #expect(try self.folder.names(in: "out") == ["2-response.txt"])
        #expect(!self.warnings.bytes.isEmpty)
    }
}
