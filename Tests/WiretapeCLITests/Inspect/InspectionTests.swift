import CassetteModel
import CassettePlayback
@testable import CassetteTools
import TapeBytes
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct InspectionTests {
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

    @Test func listsInOrderOfStart() throws {
        try self.inspection([interactionText(1, second: 2), interactionText(2, second: 1)]).list()
        #expect(self.sink.lines[1].hasPrefix("1  GET     http://a/2  200"))
        #expect(self.sink.lines[2].hasSuffix("+1.000 s"))
        #expect(self.sink.lines[3] == "2 exchanges, 0 B of bodies in 1000 ms.")
    }

    @Test func aCallIsShownAsTrees() throws {
        try self.inspection([callText()]).show(1)
        #expect(
            self.sink.text.contains(
                """
                body        17 B, application/grpc
                            2 messages

                  message 1, 5 B
                    1:name "Rex"

                  message 2, 2 B
                    2 3

                """))
        #expect(
            self.sink.text.contains(
                """
                  message 1, 13 B, after 1 message of the client
                    1:pet
                      2:name "Tom"
                      3:kind 1 (DOG)
                    4 2 B ff00

                  message 2, 0 B

                trailers    2 lines
                grpc-status: 5
                grpc-message: no%20such%20pet

                grpc        5 NOT_FOUND: no such pet
                            head before any message of the client

                outcome     complete
                connection  2 to 127.0.0.1:443, stream 7

                """))
    }

    @Test func onATerminalAKeyIsPaintedAndNothingElse() throws {
        try self.inspection([callText()], .terminal(80, colored: true)).show(1)
        let painted = Paint(isOn: true)("3:kind", .cyan)
        #expect(self.sink.text.contains("      \(painted) 1 (DOG)\n"))
    }

    @Test func oneMessageIsWrittenByItsNumber() throws {
        let inspection = try self.inspection([callText()])
        try inspection.part("1", in: .request, of: 1)
        #expect(self.sink.bytes == [0x0A, 3] + Array("Rex".utf8))
        let missing = self.message { try inspection.part("3", in: .request, of: 1) }
        #expect(missing?.hasSuffix("it has 1 to 2.") == true)
        let ambiguous = self.message { try inspection.part("1", in: nil, of: 1) }
        #expect(ambiguous?.hasSuffix("add --body request or --body response.") == true)
    }

    @Test func theJSONOfABodyListsItsMessages() throws {
        let inspection = try self.inspection([callText()])
        try inspection.bodyJSON(.response, of: 1)
        #expect(self.sink.text.contains(#"{ "part": "1", "size": 13, "decoded": 13, "compressed": false, "after": 1 }"#))
    }

    @Test func aCallIsListedWithItsStatus() throws {
        let inspection = try self.inspection([callText()])
        try inspection.list()
        #expect(self.sink.lines[1].hasPrefix("1  POST    http://a/pets.v1.Pets/Watch  200 NOT_FOUND  application/grpc  23 B"))
        let call = try inspection.cassette.interaction(at: 0)
        #expect(ExchangeRow(number: 1, call).shortStatusWords == "grpc 5")
    }

    @Test func anEmptyCassetteSaysSo() throws {
        try self.inspection([]).list()
        #expect(self.sink.text == "\"pets.json\" holds no exchanges.\n")
    }

    @Test func listsAsJSON() throws {
        try self.inspection([interactionText(1), interactionText(2)]).listJSON()
        #expect(try JSONDocument(self.sink.bytes).root.elements.map { $0["number"]?.int } == [1, 2])
    }

    @Test func showsOneByNumber() throws {
        try self.inspection([interactionText(1, second: 2), interactionText(2, second: 1)]).show(2)
        #expect(self.sink.text.hasPrefix("exchange 2 (id 1), 2026-11-21T04:19:02.000000Z, +1.000 s\n\nGET http://a/1 HTTP/1.1\n"))
    }

    @Test func aReusedConnectionHasTheCertificatesOfItsFirstExchange() throws {
        let certificate =
            #"{ "sha256": "\#(String(repeating: "ab", count: 32))", "subject": "CN=a", "issuer": "CN=b", "notBefore": "2026-11-20T00:00:00Z", "notAfter": "2027-11-20T00:00:00Z" }"#
        func text(_ id: Int, _ reused: String, _ chain: String) -> String {
            let tls = #"{ "version": "TLSv1.3", "cipher": "X"\#(chain) }"#
            return interactionText(id, second: id).dropLast()
                + #", "connection": { "id": 7, "remote": "192.0.2.1:443"\#(reused), "tls": \#(tls) } }"#
        }
        try self.inspection([text(1, "", ", \"chain\": [\(certificate)]"), text(2, #", "reused": true"#, "")]).show(2)
        #expect(
            self.sink.text.hasSuffix(
                """

                connection  7 to 192.0.2.1:443, reused, opened by exchange 1
                tls         TLSv1.3, X
                certificate CN=a
                            issued by CN=b
                            valid from 2026-11-20 to 2027-11-20
                            sha256 abababababababababababababababab…

                """))
    }

    @Test func theHintOfALongBodyIsACommandThatWorks() throws {
        let lines = Array(repeating: #""x\n""#, count: 300).joined(separator: ", ")
        var inspection = try self.inspection([interactionText(1, responseBody: #"{ "text": [\#(lines)] }"#)], .terminal(80))
        inspection.file = "my pets.json"
        try inspection.show(1)
        #expect(self.sink.text.contains("wiretape inspect 'my pets.json' 1 --body response\n"))
    }

    @Test func exchangeAsJSONEqualsTheCassette() throws {
        let text = interactionText(1, responseBody: "{ \"size\": 3, \"text\": \"이름 a\" }")
        try self.inspection([text]).showJSON(1)
        #expect(self.sink.text == text + "\n")
    }

    @Test(arguments: [InspectScreen.terminal(80), .piped])
    func hiddenCharactersAreEscapedInTheSameValue(screen: InspectScreen) throws {
        try self.inspection([interactionText(1, responseBody: "{ \"text\": \"\u{202E}a\" }")], screen).showJSON(1)
        #expect(self.sink.text.contains(#""text": "\u202ea""#))
    }

    @Test(arguments: [(0, "there is no exchange 0: \"pets.json\" has 1 to 2."), (3, "there is no exchange 3: \"pets.json\" has 1 to 2.")])
    func aNumberThatIsNotThereSaysWhichAre(number: Int, text: String) throws {
        let inspection = try self.inspection([interactionText(1), interactionText(2)])
        for action in [inspection.show, inspection.showJSON, { try inspection.body(.request, of: $0) }] {
            #expect(self.message { try action(number) } == text)
        }
        #expect(self.sink.bytes.isEmpty)
    }

    @Test func anUnknownNumberInASmallCassetteListsTheExistingOnes() throws {
        #expect(self.message { try self.inspection([]).show(1) } == "there is no exchange 1: \"pets.json\" holds none.")
        #expect(self.message { try self.inspection([interactionText(1)]).show(2) } == "there is no exchange 2: \"pets.json\" has only 1.")
    }

    // MARK: Filters

    private func filtered(_ filter: String) throws -> Inspection {
        var inspection = try self.inspection([interactionText(1, second: 1), interactionText(2, second: 2), interactionText(3, second: 3)])
        inspection.filter = ExchangeFilter(try FilterParser.parse(filter), reader: inspection.reader)
        return inspection
    }

    @Test func aFilteredListKeepsNumbersAndStarts() throws {
        try self.filtered("a/[23]").list()
        #expect(self.sink.lines[1].hasPrefix("2  GET     http://a/2  200"))
        #expect(self.sink.lines[1].hasSuffix("+1.000 s"))
        #expect(self.sink.lines[3] == "2 of 3 exchanges, 0 B of bodies in 2000 ms.")
    }

    @Test func aFilterThatNothingMatchesSaysSo() throws {
        try self.filtered("~c 500").list()
        #expect(self.sink.text == "no exchange of \"pets.json\" matches the filter.\n")
        self.sink.bytes = []
        try self.filtered("~c 500").listJSON()
        #expect(self.sink.text == "[]\n")
    }

    @Test func aFilterOfWordsThatNothingMatchesSaysWhereTheyAreSearchedFor() throws {
        var inspection = try self.filtered("post")
        inspection.filterText = "post"
        try inspection.list()
        #expect(
            self.sink.text
                == "no exchange of \"pets.json\" matches the filter (\"post\" is searched for in URLs: ~m POST is the method).\n")
    }

    @Test func aWrongExchangeIsNamedByItsLine() throws {
        let inspection = try self.inspection([interactionText(1), interactionText(2, responseBody: #"{ "size": -1 }"#)])
        let message = try #require(self.message { try inspection.show(2) })
        #expect(message.contains("pets.json' line 7: "))
    }
}

@Suite struct InspectScreenTests {
    @Test func isATerminalWhereItHasAWidth() {
        #expect(InspectScreen.terminal(80).isTerminal)
        #expect(!InspectScreen.piped.isTerminal)
    }

    @Test func theCurrentOneGoesWithStandardOutput() {
        #expect(InspectScreen.current.isTerminal == Terminal.output.isTerminal)
    }
}

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
        #expect(self.sink.text.hasPrefix("exchange 1, request of POST http://a/pets: 2 defects\n"))
        #expect(self.sink.text.hasSuffix("2 defects in 1 upload.\n"))
        self.sink.bytes = []
        try self.inspection(self.some).lint(2)
        #expect(self.sink.text == "no body is an upload: nothing to check.\n")
    }

    @Test func lintAsJSONIsAnArray() throws {
        try self.inspection(self.some).lintJSON(nil)
        let problems = try JSONDocument(self.sink.bytes).root.elements
        #expect(problems.map { $0["problem"]?.string } == ["lineEndBeforeFirst", "transferEncoding"])
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

    @Test func warningsAboutABodyAreSeparateFromIt() throws {
        try self.inspection([interactionText(1, responseBody: #"{ "text": "half", "complete": false }"#)]).body(.response, of: 1)
        #expect(self.sink.text == "half")
        #expect(self.warnings.text == "the response body of exchange 1 was cut short: these are the bytes that were received.")
        self.warnings.bytes = []
        let coded = interactionText(1, responseBody: #"{ "base64": "AP8=" }"#, headers: #""Content-Encoding: br""#)
        try self.inspection([coded]).body(.response, of: 1)
        #expect(self.warnings.text == "the response body of exchange 1 is still coded as br, as it was received.")
    }

    @Test func readableBeginningOfABrokenBodyIsWritten() throws {
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

    @Test func aBodyNextToTheCassetteIsReadFromThere() throws {
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
