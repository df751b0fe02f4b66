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
            uri: '\(uri.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'
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
        "http://%3CHOST%3E/chat", "{BASE}/chat", "%{BASE}/chat", "https://{HOST}/chat", "<%= ENV[\"X\"] %>/chat",
        "<%= ENV['X'] %>/chat", "<%= ENV.fetch('X', 'y') %>/chat", "<%BASE%>/chat", "<<BASE>>/chat", "<!HOST!>/chat", "«HOST»/chat",
        "http://[FILTERED]/chat", "http://__HOST__/chat", "__BASE__/chat", "$BASE/chat", "${BASE}/chat", "http://$HOST:80/chat",
        "http://<FILTERED HOST>/chat", "<base url>/chat", "{{ base }}/chat", "{{base}}/chat", "<A><B>/chat", "[HOST]/chat",
    ]) func aPlaceholderForAnAddressLeavesTheExchangeOut(_ uri: String) throws {
        let text = Self.cassette(Self.interaction(uri), Self.interaction("http://a.test/kept"))
        let (report, exchanges) = try self.importing.run(text, as: "c.yml")
        #expect(exchanges.map(\.request.url) == ["http://a.test/kept"])
        #expect(self.losses(report)["placeholder"]?.count == 1)
    }

    @Test func placeholdersInBase64AreFilled() throws {
        let coded = Self.interaction("http://a.test/").replacing("string: 'hi'", with: "base64_string: eyJrIjoiPEtFWT4ifQ==")
        let exchanges = try self.importing.run(Self.cassette(coded), as: "c.yml") { $0.placeholders = ["KEY": "abc"] }.interactions
        #expect(try self.importing.bytes(exchanges[0].response?.body) == Array(#"{"k":"abc"}"#.utf8))
    }

    /// Texts that are no URL, and hosts that nobody has.
    @Test(arguments: [
        "REDACTED/chat", "ENV_HOST/x", "a.test/x", "/x", "//a.test/x", "", "http://***/x", "http://REDACTED/x", "http://a b/x",
        "http://a|b/x",
        "http://[xyz]/", "ftp://a.test/",
    ]) func anAddressWithoutAHostLeavesTheExchangeOut(_ uri: String) throws {
        let text = Self.cassette(Self.interaction(uri), Self.interaction("http://a.test/kept"))
        let (report, exchanges) = try self.importing.run(text, as: "c.yml")
        #expect(exchanges.map(\.request.url) == ["http://a.test/kept"])
        #expect(report.losses.filter { ["address", "placeholder"].contains($0.kind) }.map(\.count) == [1])
    }

    @Test(arguments: [
        "http://my_service/x", "http://my__service__a/x", "http://[::1]:80/x", "http://[fe80::1%25eth0]/x", "http://redacted.test/x",
        "http://REDACTED.test/x", "http://SERVER01/x", "http://m%C3%BCller.test/x", "http://u:p@a.test/x", "http://{{token:1}}.a.test/x",
        "http://xn--bcher-kva.test/x", "http://a.test/x?filter[name]=1&$top=2&__a__=1",
    ]) func hostsThatAreRealStay(_ url: String) throws {
        let (report, exchanges) = try self.importing.run(Self.cassette(Self.interaction(url)), as: "c.yml") { $0.redaction = nil }
        #expect(exchanges.map(\.request.url) == [url])
        #expect(!report.losses.contains { ["address", "placeholder", "placeholderKept"].contains($0.kind) })
    }

    /// What a report names can be given a value.
    @Test(arguments: [
        ("<FILTERED HOST>/x", "FILTERED HOST"), ("<base url>/x", "base url"), ("{{ base }}/x", "base"), ("{{base}}/x", "base"),
        ("<<BASE>>/x", "BASE"), ("<%= ENV[\"X\"] %>/x", "X"), ("<%= ENV.fetch('X', 'y') %>/x", "X"), ("<%BASE%>/x", "BASE"),
        ("<!HOST!>/x", "HOST"), ("«HOST»/x", "HOST"), ("__BASE__/x", "BASE"), ("$BASE/x", "BASE"), ("${BASE}/x", "BASE"),
        ("[HOST]/x", "HOST"), ("<base.url>/x", "base.url"),
    ]) func theNameInTheReportCanBeGiven(_ uri: String, _ name: String) throws {
        let text = Self.cassette(Self.interaction(uri), Self.interaction("http://a.test/kept"))
        let report = try Importing().run(text, as: "c.yml").report
        #expect(self.losses(report)["placeholder"]?.text.hasSuffix("(\(name))") == true)
        let exchanges = try self.importing.run(text, as: "c.yml") { $0.placeholders = [name: "http://b.test"] }.interactions
        #expect(exchanges.map(\.request.url) == ["http://b.test/x", "http://a.test/kept"])
    }

    /// Recordings of other tools with a placeholder in place of the host.
    @Test(arguments: [
        ("c.har", HARText.log(HARText.entry("GET", "http://<HOST>/x"), HARText.entry("GET", "http://a.test/kept"))),
        (
            "c.json",
            #"""
            [{"scope": "http://<HOST>:80", "method": "GET", "path": "/x", "status": 200, "response": "x"},
             {"scope": "http://a.test:80", "method": "GET", "path": "/kept", "status": 200, "response": "x"}]
            """#
        ),
        (
            "c.chlsj",
            #"""
            [{"status": "COMPLETE", "method": "GET", "scheme": "http", "host": "<HOST>", "actualPort": 80, "path": "/x",
              "request": {}, "response": {"status": 200}},
             {"status": "COMPLETE", "method": "GET", "scheme": "http", "host": "a.test", "actualPort": 80, "path": "/kept",
              "request": {}, "response": {"status": 200}}]
            """#
        ),
        (
            "c.json",
            #"""
            {"mappings": [
              {"request": {"method": "GET", "urlPath": "/x", "host": {"equalTo": "<HOST>"}, "scheme": "http"}, "response": {"status": 200}},
              {"request": {"method": "GET", "urlPath": "/kept", "host": {"equalTo": "a.test"}, "scheme": "http"}, "response": {"status": 200}}]}
            """#
        ),
        (
            "c.json",
            #"""
            {"data": {"pairs": [{"request": {"destination": "<HOST>", "scheme": "http", "path": "/x"}, "response": {"status": 200}},
              {"request": {"destination": "a.test", "scheme": "http", "path": "/kept"}, "response": {"status": 200}}]}}
            """#
        ),
        (
            "c.json",
            #"""
            {"Entries": [{"RequestUri": "http://<HOST>/x", "RequestMethod": "GET", "StatusCode": 200},
              {"RequestUri": "http://a.test/kept", "RequestMethod": "GET", "StatusCode": 200}]}
            """#
        ),
        (
            "c.http",
            "GET /x HTTP/1.1\r\nHost: <HOST>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
                + "GET /kept HTTP/1.1\r\nHost: a.test\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
        ),
    ]) func eachReaderKnowsPlaceholdersInAddresses(_ name: String, _ text: String) throws {
        let (report, exchanges) = try Importing().run(text, as: name)
        #expect(exchanges.map(\.request.url) == ["http://a.test/kept"])
        #expect(self.losses(report)["placeholder"]?.text.hasSuffix("(HOST)") == true && self.losses(report)["placeholder"]?.count == 1)
        let filled = try Importing().run(text, as: name) { $0.placeholders = ["HOST": "b.test"] }
        #expect(filled.interactions.map(\.request.url) == ["http://b.test/x", "http://a.test/kept"])
        #expect(self.losses(filled.report)["placeholder"] == nil)
    }

    @Test func messagesAsTheyWereSentAreFilled() throws {
        let text =
            "POST /x HTTP/1.1\r\nHost: a.test\r\nX: <NAME>\r\nContent-Length: 6\r\n\r\n<NAME>"
            + "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nY: {{ NAME }}\r\n\r\n<NAME>"
        let exchange = try self.importing.run(text, as: "c.http") { $0.placeholders = ["NAME": "value"] }.interactions[0]
        #expect(exchange.request.headers.values("x") == ["value"] && exchange.response?.headers.values("y") == ["value"])
        #expect(try self.importing.bytes(exchange.request.body) == Array("value".utf8))
        #expect(try self.importing.bytes(exchange.response?.body) == Array("value".utf8))
        #expect(exchange.response?.headers.values("content-length") == ["5"])
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
