import CassetteModel
import TapeTestSupport
import Testing
@testable import CassetteImport

@Suite struct PlaceholderTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private static func cassette(_ interactions: String...) -> String {
        "---\nhttp_interactions:\n\(interactions.joined())recorded_with: VCR 6.0.0\n"
    }

    private static func interaction(_ uri: String, body: String = "hi", header: String = "x") -> String {
        """
        - request:
            method: get
            uri: '\(uri)'
            body: {encoding: UTF-8, string: ''}
            headers: {Accept: ['*/*'], Authorization: ['Bearer \(header)']}
          response:
            status: {code: 200, message: OK}
            headers: {Content-Type: [application/json]}
            body: {encoding: UTF-8, string: '\(body)'}
          recorded_at: Sat, 28 Nov 2026 00:00:00 GMT

        """
    }

    private func losses(_ report: ImportReport) -> [String: ImportReport.Loss] {
        Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0) })
    }

    @Test(arguments: [
        "<OLLAMA_API_BASE>/chat", "https://<HOST>/chat", "https://<SUBDOMAIN>.a.test/chat", "<%= api_base %>/chat",
        "http://%3CHOST%3E/chat", "{BASE}/chat", "%{BASE}/chat", "https://{HOST}/chat",
    ]) func aPlaceholderForAnAddressLeavesTheExchangeOut(_ uri: String) throws {
        let text = Self.cassette(Self.interaction(uri), Self.interaction("http://a.test/kept"))
        let (report, exchanges) = try self.importing.run(text, as: "c.yml")
        #expect(exchanges.map(\.request.url) == ["http://a.test/kept"])
        #expect(self.losses(report)["placeholder"]?.count == 1)
    }

    @Test func theNamesAreInTheReport() throws {
        let text = Self.cassette(
            Self.interaction("<OLLAMA_API_BASE>/chat"), Self.interaction("<OTHER>/x"), Self.interaction("http://a.test/kept"))
        let report = try self.importing.run(text, as: "c.yml").report
        #expect(self.losses(report)["placeholder"]?.text.hasSuffix("(OLLAMA_API_BASE, OTHER)") == true)
    }

    @Test(arguments: ["<OLLAMA_API_BASE>/chat", "<%= OLLAMA_API_BASE %>/chat"]) func givenValuesAreFilledIn(_ uri: String) throws {
        let text = Self.cassette(Self.interaction(uri, body: #"{"base": "<OLLAMA_API_BASE>"}"#))
        let (report, exchanges) = try self.importing.run(text, as: "c.yml") {
            $0.placeholders = ["OLLAMA_API_BASE": "http://localhost:11434/api"]
        }
        #expect(exchanges.map(\.request.url) == ["http://localhost:11434/api/chat"])
        #expect(try self.importing.bytes(exchanges[0].response?.body) == Array(#"{"base": "http://localhost:11434/api"}"#.utf8))
        #expect(self.losses(report)["placeholder"] == nil && self.losses(report)["placeholderKept"] == nil)
    }

    @Test func aValueThatFillsNothingIsAnError() throws {
        let text = Self.cassette(Self.interaction("{BASE}/chat"))
        #expect(try self.importing.failure(text, as: "c.yml") { $0.placeholders = ["BASES": "http://a.test"] }.contains("\"BASES\""))
        let exchanges = try self.importing.run(text, as: "c.yml") { $0.placeholders = ["BASE": "http://a.test"] }.interactions
        #expect(exchanges.map(\.request.url) == ["http://a.test/chat"])
    }

    @Test func placeholdersElsewhereAreReported() throws {
        for interaction in [
            Self.interaction("http://a.test/?key=<API_KEY>"), Self.interaction("http://a.test/", body: #"{"id": "<ACCOUNT>"}"#),
            Self.interaction("http://a.test/", header: "<TOKEN>"),
        ] {
            let (report, exchanges) = try Importing().run(Self.cassette(interaction), as: "c.yml") { $0.redaction = nil }
            #expect(exchanges.count == 1 && self.losses(report)["placeholderKept"]?.count == 1, "\(interaction)")
        }
    }

    @Test func tagsAreNoPlaceholders() {
        for text in ["<HTML><BODY></BODY></HTML>", "a < b > c", "<DIV>", "<john@a.test>", "List<String>", "x <TITLE>y</TITLE>"] {
            #expect(Placeholders.names(in: Array(text.utf8), isMarkup: true).isEmpty, "\(text)")
        }
        #expect(Placeholders.names(in: Array("<p><API_KEY></p>".utf8), isMarkup: true) == ["API_KEY"])
        #expect(Placeholders.names(in: Array("List<String> and <Name>".utf8), isMarkup: false).isEmpty)
    }
}
