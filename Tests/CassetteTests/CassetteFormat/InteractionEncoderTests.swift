@testable import CassetteFormat
@testable import CassetteModel
import Foundation
@testable import TapeBytes
import Testing

@Suite struct InteractionEncoderTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")

    private func encoded(_ interaction: Interaction) -> String {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Golden files are whole cassettes; `WIRETAPE_WRITE_GOLDENS=1` regenerates them.
    @Test(arguments: GoldenInteractions.all.map(\.name))
    func interactionsAreWrittenAsTheGoldenFilesHaveThem(_ name: String) throws {
        let interactions = try #require(GoldenInteractions.all.first { $0.name == name }).interactions
        let text =
            "{\n  \"wiretape\": 2,\n  \"recorder\": \"wiretape 0.1.0\",\n  \"interactions\": [\n"
            + interactions.map(self.encoded).joined(separator: ",\n") + "\n  ]\n}\n"
        let file = Self.folder.appendingPathComponent("\(name).json")
        if ProcessInfo.processInfo.environment["WIRETAPE_WRITE_GOLDENS"] == "1" { try Data(text.utf8).write(to: file) }
        let golden = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        #expect(text == golden)

        let document = try JSONDocument(Array(golden.utf8))
        let elements = try #require(document.root["interactions"]).elements
        let decoded = try elements.map { try InteractionDecoder.decode(Array($0.raw), at: .textAlone) }
        #expect(decoded == interactions)
    }

    @Test func theConditionsOfAStubAreWrittenAndRead() throws {
        var interaction = GoldenInteractions.simple
        interaction.repeats = true
        var stub = StubConditions(exact: [.query, .body, .queryItem("a b"), .header("x-v"), .cookie("Sid")])
        stub.unknown = [UnknownMember(name: "later", json: Array("1".utf8))]
        interaction.stub = stub
        let text = self.encoded(interaction)
        #expect(text.contains(#""stub": { "exact": ["query", "body", "query:a b", "header:x-v", "cookie:Sid"], "later": 1 }"#))
        #expect(try InteractionDecoder.decode(Array(text.utf8), at: .textAlone) == interaction)
        var summaries = InteractionSummaries()
        Array(self.encoded(GoldenInteractions.simple).utf8).withUnsafeBytes { summaries.append($0) }
        Array(text.utf8).withUnsafeBytes { summaries.append($0) }
        #expect(summaries.mayBeStubs == [1])
    }

    @Test(arguments: [#"{}"#, #"{"exact": "query"}"#, #"{"exact": ["paths"]}"#, #"{"exact": ["header:"]}"#, #"{"exact": [1]}"#, "5"])
    func aStubWithOtherConditionsIsRefused(_ stub: String) throws {
        let text =
            #"{"id": 1, "started": "2026-11-21T04:19:28.123456Z", "request": {"method": "GET", "url": "http://a.test/"}, "stub": \#(stub)}"#
        let error = #expect(throws: CassetteError.self) { try InteractionDecoder.decode(Array(text.utf8), at: .textAlone) }
        #expect(error?.code == .damaged && error?.message.contains("stub") == true, "\(error?.message ?? "")")
    }

    @Test func theWriterKeepsItsEarlierBytes() {
        var writer = JSONWriter(reserving: 1)
        writer.raw("[")
        InteractionEncoder.encode(GoldenInteractions.simple, into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[" + self.encoded(GoldenInteractions.simple))
    }
}

@Suite struct ConnectionEncoderTests {
    private func encoded(_ connection: ConnectionInfo) -> String {
        var writer = JSONWriter()
        ConnectionEncoder.encode(connection, into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func aConnectionWithoutCertificatesIsOneLine() {
        #expect(self.encoded(ConnectionInfo(id: 1, remote: "[::1]:9", isReused: false)) == #"{ "id": 1, "remote": "[::1]:9" }"#)
        let tls = TLSDetails(version: "TLSv1.2", cipher: "X", isResumed: true, unknown: [UnknownMember(name: "ech", json: Array("1".utf8))])
        #expect(
            self.encoded(ConnectionInfo(id: 1, remote: "a", isReused: true, tls: tls))
                == #"{ "id": 1, "remote": "a", "reused": true, "tls": { "version": "TLSv1.2", "cipher": "X", "resumed": true, "ech": 1 } }"#
        )
    }

    @Test func cachedTextEqualsNewText() {
        let later = GoldenInteractions.details.withoutChain
        let anew = TLSDetails(version: later.version, cipher: later.cipher, alpn: later.alpn, sni: later.sni)
        #expect(anew.text == nil)
        #expect(
            self.encoded(ConnectionInfo(id: 1, remote: "a", isReused: true, tls: later))
                == self.encoded(ConnectionInfo(id: 1, remote: "a", isReused: true, tls: anew)))
    }
}
