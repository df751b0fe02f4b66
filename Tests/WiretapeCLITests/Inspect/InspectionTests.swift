import CassetteModel
import CassettePlayback
import TapeBytes
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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

    @Test func oneAsJSONStandsAsInTheCassette() throws {
        let text = interactionText(1, responseBody: "{ \"size\": 3, \"text\": \"\u{202E}a\" }")
        try self.inspection([text]).showJSON(1)
        #expect(self.sink.text == text + "\n")
    }

    @Test func oneAsJSONOnATerminalHasTheSameValue() throws {
        try self.inspection([interactionText(1, responseBody: "{ \"text\": \"\u{202E}a\" }")], .terminal(80)).showJSON(1)
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

    @Test func aNumberInASmallCassetteSaysWhatThereIs() throws {
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

    @Test func aWrongExchangeIsNamedByItsLine() throws {
        let inspection = try self.inspection([interactionText(1), interactionText(2, responseBody: #"{ "size": -1 }"#)])
        let message = try #require(self.message { try inspection.show(2) })
        #expect(message.contains("pets.json' line 7: "))
    }
}
