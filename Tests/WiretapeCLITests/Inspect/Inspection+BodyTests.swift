import CassetteModel
import CassettePlayback
import TapeBytes
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct InspectionBodyTests {
    private let folder: TemporaryFolder
    private let sink = TextSink()
    private let warnings = TextSink()

    init() throws { self.folder = try TemporaryFolder() }

    private func inspection(_ interactions: [String], _ screen: InspectScreen = .piped) throws -> Inspection {
        let path = try self.folder.write(cassetteText(interactions), to: "pets.json")
        return Inspection(
            cassette: try RecordedCassette(path: path), file: "pets.json", screen: screen, write: { self.sink.write($0) },
            warn: self.warnings.write)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? InspectError)?.message ?? (error as? CassetteError)?.message
        }
    }

    @Test func aBodyIsWrittenWithNothingAround() throws {
        let inspection = try self.inspection([
            interactionText(1, responseBody: #"{ "base64": "AP8bAA==" }"#, requestBody: #"{ "json": {"a":1} }"#)
        ])
        try inspection.body(.response, of: 1)
        #expect(self.sink.bytes == [0x00, 0xFF, 0x1B, 0x00])
        self.sink.bytes = []
        try inspection.body(.request, of: 1)
        #expect(self.sink.text == #"{"a":1}"#)
        #expect(self.warnings.bytes.isEmpty)
    }

    @Test func whatIsOddAboutABodyIsSaidBesideIt() throws {
        try self.inspection([interactionText(1, responseBody: #"{ "text": "half", "complete": false }"#)]).body(.response, of: 1)
        #expect(self.sink.text == "half")
        #expect(self.warnings.text == "the response body of exchange 1 was cut short: these are the bytes that were received.")
        self.warnings.bytes = []
        let coded = interactionText(1, responseBody: #"{ "base64": "AP8=" }"#, headers: #""Content-Encoding: br""#)
        try self.inspection([coded]).body(.response, of: 1)
        #expect(self.warnings.text == "the response body of exchange 1 is still coded as br, as it was received.")
    }

    @Test func ofABodyWhoseCodingBreaksTheReadableBeginningIsWritten() throws {
        let coded = interactionText(
            1, responseBody: #"{ "base64": "\#(BrokenGzip.base64)", "note": "broken" }"#, headers: #""Content-Encoding: gzip""#)
        let inspection = try self.inspection([coded])
        try inspection.body(.response, of: 1)
        #expect(self.sink.text == "abc")
        #expect(
            self.warnings.text
                == "the response body of exchange 1 can be read only in part: gzip breaks at byte 15 of 23: wrong gzip checksum; --raw writes all of it."
        )
        self.sink.bytes = []
        try inspection.body(.response, of: 1, raw: true)
        #expect(self.sink.bytes == BrokenGzip.bytes)
    }

    @Test func aBodyBesideTheCassetteComesFromThere() throws {
        var digest = PortableSHA256()
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 >> 3) }
        bytes.withUnsafeBytes { digest.update($0) }
        let path = "pets.bodies/\(Hex.encode(digest.finalize())).bin"
        try self.folder.write(bytes, to: path)
        try self.inspection([interactionText(1, responseBody: #"{ "size": 200000, "file": "\#(path)" }"#)]).body(.response, of: 1)
        #expect(self.sink.bytes == bytes)
    }

    @Test func aBodyThatWasChangedIsNotWritten() throws {
        let path = "pets.bodies/\(String(repeating: "a", count: 64)).bin"
        try self.folder.write([1, 2, 3], to: path)
        let inspection = try self.inspection([interactionText(1, responseBody: #"{ "size": 3, "file": "\#(path)" }"#)])
        #expect(throws: CassetteError.self) { try inspection.body(.response, of: 1) }
        #expect(self.sink.bytes.isEmpty)
    }

    @Test func anEmptyBodyIsNoErrorAndAnAbsentOneIs() throws {
        let inspection = try self.inspection([interactionText(1, responseBody: #"{ "size": 0 }"#)])
        try inspection.body(.response, of: 1)
        #expect(self.sink.bytes.isEmpty)
        #expect(
            self.message { try inspection.body(.request, of: 1) }
                == "exchange 1 of \"pets.json\" has no request body: see it with \"wiretape inspect\".")
    }

    @Test(arguments: [#""base64": "AP8=""#, #""text": "a\u001b[2J""#, #""text": "\u202e""#, #""text": "lone\rcr""#])
    func aTerminalGetsNoBodyThatWouldChangeIt(content: String) throws {
        let inspection = try self.inspection([interactionText(1, responseBody: "{ \(content) }")], .terminal(80))
        #expect(throws: InspectError.self) { try inspection.body(.response, of: 1) }
        #expect(self.sink.bytes.isEmpty)
    }

    @Test func aTerminalGetsText() throws {
        try self.inspection([interactionText(1, responseBody: #"{ "text": "이름\r\n" }"#)], .terminal(80)).body(.response, of: 1)
        #expect(self.sink.text == "이름\r\n")
    }

    // MARK: Wire bytes

    @Test func rawBytesHaveTheirCodingOn() throws {
        let gzip = "H4sIAAAAAAAAA0tMSgYAwkEkNQMAAAA="
        let coded = interactionText(1, responseBody: #"{ "base64": "\#(gzip)" }"#, headers: #""Content-Encoding: gzip""#)
        try self.inspection([coded]).body(.response, of: 1, raw: true)
        #expect(self.sink.bytes.starts(with: [0x1F, 0x8B]))
        #expect(self.warnings.bytes.isEmpty)
    }

    @Test func rawBytesOfAnEditedBodySaySo() throws {
        try self.inspection([interactionText(1, responseBody: #"{ "size": 5, "text": "abc" }"#)]).body(.response, of: 1, raw: true)
        #expect(self.sink.text == "abc")
        #expect(
            self.warnings.text
                == "the response body of exchange 1 was edited after it was recorded: these are not the bytes that were received.")
    }

    // MARK: Parts

    @Test func aPartIsWrittenWithNothingAround() throws {
        let inspection = try self.inspection([uploadText(FormFixtures.pets)])
        try inspection.part("avatar", in: nil, of: 1)
        #expect(self.sink.bytes == FormFixtures.png)
        self.sink.bytes = []
        try inspection.part("4", in: .request, of: 1)
        #expect(self.sink.text == "hello")
        self.sink.bytes = []
        try inspection.part("4", in: .request, of: 1, raw: true)
        #expect(self.sink.text == "aGVsbG8=")
    }

    @Test func aPartThatIsMissingSaysWhichAreThere() throws {
        let inspection = try self.inspection([uploadText(FormFixtures.pets), interactionText(2, second: 1)])
        #expect(
            self.message { try inspection.part("x", in: nil, of: 1) }
                == "there is no part \"x\" in the request body of exchange 1: it has 1 \"title\", 2 \"meta\", 3 \"avatar\", 4 \"note\".")
        #expect(
            self.message { try inspection.part("1", in: nil, of: 2) }
                == "exchange 2 has no parts: see it with \"wiretape inspect pets.json 2\".")
        #expect(
            self.message { try inspection.part("1", in: .response, of: 1) }
                == "the response body of exchange 1 has no parts: see it with \"wiretape inspect pets.json 1\".")
    }

    @Test func aTerminalThatShowsImagesGetsOne() throws {
        var screen = InspectScreen.terminal(80)
        let inspection = try self.inspection([uploadText(FormFixtures.pets)], screen)
        #expect(throws: InspectError.self) { try inspection.part("avatar", in: nil, of: 1) }
        screen.images = .iTerm
        try self.inspection([uploadText(FormFixtures.pets)], screen).part("avatar", in: nil, of: 1)
        #expect(self.sink.text.hasPrefix("\u{1B}]1337;File=inline=1;size=29;"))
    }

    @Test func bodiesAndPartsAsJSONAreDescribed() throws {
        let inspection = try self.inspection([uploadText(FormFixtures.pets)])
        try inspection.bodyJSON(.request, of: 1)
        #expect(try JSONDocument(self.sink.bytes).root["parts"]?.elements.map { $0["part"]?.string }.count == 4)
        self.sink.bytes = []
        try inspection.partJSON("avatar", in: nil, of: 1)
        #expect(try JSONDocument(self.sink.bytes).root["part"]?.string == "3")
    }
}
