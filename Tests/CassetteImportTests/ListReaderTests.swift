import CassetteExport
import CassetteModel
import Foundation
import CassetteStore
import TapeTestSupport
import Testing
@testable import CassetteImport

/// Readers of lists and collections in JSON: nock, Charles, Postman.
@Suite struct ListReaderTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private func run(_ text: String, _ kind: ImportKind, _ change: (inout ImportOptions) -> Void = { _ in }) throws
        -> (report: ImportReport, interactions: [Interaction])
    {
        let found = try self.importing.run(text, as: "in.json", change)
        #expect(found.report.sources.map(\.kind) == [kind])
        return found
    }

    private func text(_ body: Body?) throws -> String { String(decoding: try self.importing.bytes(body), as: UTF8.self) }

    private func losses(_ report: ImportReport) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
    }

    // MARK: nock

    @Test func definitionsOfNockAreRead() throws {
        // The second body is "hi" in gzip, in two pieces.
        let text = #"""
            [
              {"scope": "https://a.test:443", "method": "POST", "path": "/p?x=1", "body": {"name": "Miso"}, "status": 201,
               "response": {"ok": [1, 2]}, "rawHeaders": ["Content-Type", "application/json", "X", "1", "X", "2"], "responseIsBinary": false},
              {"scope": "http://a.test:81", "method": "GET", "path": "/z", "body": "", "status": 200,
               "response": ["1f8b0800000000000013", "cbc80400ac2a93d802000000"], "rawHeaders": {"Content-Encoding": "gzip", "Content-Type": "text/plain"}},
              {"scope": "http://a.test:80", "method": "GET", "path": "/b", "body": "", "status": 200, "response": "0001ff",
               "rawHeaders": ["Content-Type", "image/png"], "responseIsBinary": true},
              {"scope": "http://a.test:80", "method": "GET", "path": "/t", "body": "", "status": 404, "response": "abcd",
               "rawHeaders": ["Content-Type", "text/plain"], "responseIsBinary": false}
            ]
            """#
        let exchanges = try self.run(text, .nock).interactions
        #expect(exchanges.map(\.request.url) == ["https://a.test/p?x=1", "http://a.test:81/z", "http://a.test/b", "http://a.test/t"])
        #expect(try self.text(exchanges[0].request.body) == #"{"name":"Miso"}"#)
        #expect(try self.text(exchanges[0].response?.body) == #"{"ok":[1,2]}"#)
        #expect(exchanges[0].response?.headers.lines == ["Content-Type: application/json", "X: 1", "X: 2"])
        #expect(exchanges[1].response?.headers.contains("content-encoding") == true)
        #expect(exchanges[1].response?.body?.content == .text(Array("hi".utf8)))
        #expect(try self.importing.bytes(exchanges[2].response?.body) == [0, 1, 255])
        #expect(try self.text(exchanges[3].response?.body) == "abcd" && exchanges[3].response?.status == 404)
    }

    private static func definition(_ more: String) -> String { #"[{"scope": "http://a.test", "method": "GET", "path": "/x", \#(more)}]"# }

    @Test func membersOfOldDefinitionsAreRead() throws {
        let text = Self.definition(#""port": 81, "reply": "404", "response": "gone", "times": 2"#)
        let exchanges = try self.run(text, .nock).interactions
        #expect(exchanges.map(\.request.url) == ["http://a.test:81/x", "http://a.test:81/x"])
        #expect(exchanges.map { $0.response?.status } == [404, 404])
    }

    @Test(arguments: [
        #""port": "x", "reply": "200""#, #""reply": "x""#, #""status": "gone""#, #""status": 200, "times": 0"#, #""status": 7"#,
    ]) func aMemberThatCannotBeIsAnError(_ members: String) throws {
        let message = try self.importing.failure(Self.definition(members), as: "in.json") { $0.kind = .nock }
        #expect(message.contains("expected a"), "\(message)")
    }

    @Test(arguments: [#""status": 200, "responseFile": "x.txt""#, #""status": 200, "response": "zz", "responseIsBinary": true"#])
    func anAnswerThatADefinitionDoesNotHaveIsCut(_ members: String) throws {
        let (report, exchanges) = try self.run(Self.definition(members), .nock)
        #expect(exchanges[0].response?.body?.isComplete == false && exchanges[0].outcome != .complete)
        #expect(self.losses(report)["responseBody"] == 1)
    }

    @Test func unknownMembersOfADefinitionAreReported() throws {
        let report = try self.run(Self.definition(#""status": 200, "badheaders": ["x"]"#), .nock).report
        #expect(report.losses.contains { $0.kind == "unknownPart" && $0.text.hasSuffix("(badheaders)") })
    }

    /// nock records bytes that are not UTF-8 as hex digits, and a text of such digits in the same way.
    @Test(arguments: [
        ("010203ff", [Array("010203ff".utf8), [1, 2, 3, 255]]), ("DEADBEEF", [Array("DEADBEEF".utf8)]), ("6869", [Array("6869".utf8)]),
        ("abc", [Array("abc".utf8)]),
    ]) func hexDigitsInARequestAreATextOrBytes(_ body: String, _ bodies: [[UInt8]]) throws {
        let text = Self.definition(#""status": 200, "times": 2, "body": "\#(body)""#)
        let exchanges = try self.run(text, .nock).interactions
        #expect(try exchanges.map { try self.importing.bytes($0.request.body) } == bodies.flatMap { [$0, $0] })
    }

    @Test func aFieldOfNockWithoutAValueIsLeftOut() throws {
        let (report, exchanges) = try self.run(Self.definition(#""status": 200, "rawHeaders": ["A", "b", "C"]"#), .nock)
        #expect(exchanges[0].response?.headers.lines == ["A: b"] && self.losses(report)["fields"] == 1)
    }

    // MARK: Charles

    @Test(arguments: [
        (#"{"encoding": "base64", "encoded": "AQI="}"#, "", 1000, false), (#"{"text": "hi"}"#, "", 1000, false),
        (#"{"encoding": "base64", "encoded": "AQI="}"#, "99", 2, false), (#"{"encoding": "base64", "text": "AQI="}"#, "", 3, false),
        (#"{"encoding": "base64", "encoded": "AQI="}"#, "", 2, true), (#"{"text": "hi"}"#, "", 2, true),
    ]) func aBodyOfCharlesThatIsShorterThanItsSizeIsCut(_ body: String, _ length: String, _ size: Int, _ isWhole: Bool) throws {
        let answer = Self.answer(body, type: "image/png", length: length)
            .replacingOccurrences(of: #""header": {"#, with: #""sizes": {"body": \#(size)}, "header": {"firstLine": "HTTP/1.1 200 OK", "#)
        let (report, exchanges) = try self.run(answer, .charles)
        #expect(exchanges[0].response?.body?.isComplete == isWhole && self.losses(report)["responseBody"] == (isWhole ? nil : 1))
    }

    /// The size of a body in chunks or frames includes their heads.
    @Test(arguments: [(#"{"name": "Transfer-Encoding", "value": "chunked"}, "#, "HTTP/1.1 200 OK"), ("", "HTTP/2.0 200")])
    func theSizeOfChunksOrFramesProvesNothing(_ field: String, _ line: String) throws {
        let answer = Self.answer(#"{"encoding": "base64", "encoded": "AQI="}"#, type: "image/png")
            .replacingOccurrences(
                of: #""header": {"headers": ["#, with: #""sizes": {"body": 12}, "header": {"firstLine": "\#(line)", "headers": [\#(field)"#)
        #expect(try self.run(answer, .charles).interactions[0].outcome == .complete)
    }

    private static func answer(_ body: String, type: String, length: String = "") -> String {
        let length = length.isEmpty ? "" : #", {"name": "Content-Length", "value": "\#(length)"}"#
        return #"""
            [{"status": "COMPLETE", "method": "GET", "protocolVersion": "HTTP/1.1", "scheme": "http", "host": "a.test", "actualPort": 80, "path": "/1",
              "response": {"status": 200, "header": {"headers": [{"name": "Content-Type", "value": "\#(type)"}\#(length)]}, "body": \#(body)}}]
            """#
    }

    @Test func aTextOfCharlesGoesBackIntoItsCharset() throws {
        let exchange = try self.run(Self.answer(#"{"text": "\u00e9"}"#, type: "text/plain; charset=iso-8859-1", length: "1"), .charles)
            .interactions[0]
        #expect(try self.importing.bytes(exchange.response?.body) == [0xE9] && exchange.outcome == .complete)
    }

    @Test(arguments: [(#"{"text": "h\ufffd"}"#, ""), (#"{"text": "hi", "decodedSize": 99}"#, ""), (#"{"text": "hi"}"#, "99")])
    func aTextOfCharlesThatIsNotAllIsCut(_ body: String, _ length: String) throws {
        let (report, exchanges) = try self.run(Self.answer(body, type: "image/png", length: length), .charles)
        #expect(exchanges[0].response?.body?.isComplete == false && self.losses(report)["responseBody"] == 1)
    }

    @Test func sessionsOfCharlesAreRead() throws {
        func transaction(_ path: String, state: String = "COMPLETE", request: String = "{}", response: String) -> String {
            #"""
            {"status": "\#(state)", "method": "GET", "protocolVersion": "HTTP/1.1", "scheme": "https", "host": "a.test", "port": null, "actualPort": 443,
             "path": "\#(path)", "query": "x=1", "tunnel": false, "times": {"start": "2026-11-21T04:19:28.123+00:00"},
             "durations": {"total": 9, "connect": 1, "ssl": 2, "request": 3, "latency": 4, "response": 5}, "request": \#(request), "response": \#(response)}
            """#
        }
        let head = #""header": {"firstLine": "HTTP/1.1 200 Fine", "headers": [{"name": "Content-Type", "value": "text/plain"}]}"#
        let text = """
            [\(transaction("/a", response: #"{"status": 200, \#(head), "body": {"text": "hi", "charset": "UTF-8"}}"#)),
             \(transaction("/b", response: #"{"status": 200, \#(head), "body": {"encoding": "base64", "encoded": "AAH/"}}"#)),
             \(transaction("/c", response: #"{"status": 200, \#(head), "sizes": {"body": 7}}"#)),
             \(transaction("/d", state: "FAILED", response: "null")),
             {"status": "COMPLETE", "method": "CONNECT", "host": "a.test", "tunnel": true, "path": null, "protocolVersion": "HTTP/1.1"}]
            """
        let (report, exchanges) = try self.run(text, .charles)
        #expect(exchanges.map(\.request.url) == ["a", "b", "c", "d"].map { "https://a.test/\($0)?x=1" })
        #expect(exchanges[0].timing.receive == 5 && exchanges[0].timing.wait == 4 && exchanges[0].response?.reason == Array("Fine".utf8))
        #expect(try self.text(exchanges[0].response?.body) == "hi")
        #expect(try self.importing.bytes(exchanges[1].response?.body) == [0, 1, 255])
        #expect(exchanges[2].response?.body?.isComplete == false && exchanges[2].outcome != .complete)
        #expect(exchanges[3].response == nil && self.losses(report) == ["notHTTP": 1, "responseBody": 1])
    }

    // MARK: Postman

    private static func collection(_ items: String, variables: String = "") -> String {
        #"{"info": {"name": "x", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"}, "variable": [\#(variables)], "item": [\#(items)]}"#
    }

    @Test func savedAnswersOfACollectionAreRead() throws {
        let answer = #"""
            {"name": "r", "originalRequest": {"method": "POST", "header": [{"key": "A", "value": "{{token}}"}, {"key": "B", "value": "x", "disabled": true}],
              "url": {"raw": "{{base}}/pets?x=1", "host": ["{{base}}"], "path": ["pets"]}, "body": {"mode": "urlencoded", "urlencoded": [{"key": "a", "value": "b c"}]}},
             "status": "Created", "code": 201, "header": [{"key": "Content-Type", "value": "application/json"}], "body": "{\"id\": 1}", "responseTime": 12}
            """#
        let items = #"""
            {"name": "folder", "item": [{"name": "a", "request": {"method": "GET", "url": "http://a.test/"}, "response": [\#(answer)]}]},
            {"name": "none", "request": {"method": "GET", "url": "http://a.test/none"}, "response": []},
            {"name": "unknown", "request": {"method": "GET", "url": "{{host}}/x"}, "response": [{"code": 200, "body": "x"}]}
            """#
        let text = Self.collection(items, variables: #"{"key": "base", "value": "https://a.test"}, {"key": "token", "value": "t1"}"#)
        let (report, exchanges) = try self.run(text, .postman)
        #expect(exchanges.map(\.request.url) == ["https://a.test/pets?x=1"])
        #expect(exchanges[0].request.headers.first("a") == "t1" && !exchanges[0].request.headers.contains("b"))
        #expect(try self.text(exchanges[0].request.body) == "a=b%20c" && self.text(exchanges[0].response?.body) == #"{"id": 1}"#)
        #expect(exchanges[0].response?.status == 201 && exchanges[0].timing.wait == 12)
        #expect(self.losses(report)["unanswered"] == 1 && self.losses(report)["placeholder"] == 1)
        let filled = try Importing().run(text, as: "p.json") { $0.placeholders = ["host": "http://h.test"] }.interactions
        #expect(filled.map(\.request.url).contains("http://h.test/x"))
    }

    private static func item(_ request: String, _ answer: String = #"{"code": 200, "body": "hi"}"#) -> String {
        #"{"name": "n", "request": \#(request), "response": [\#(answer)]}"#
    }

    @Test func pathVariablesAndKeysOfTheQueryAreInTheURL() throws {
        let raw = #"{"url": {"raw": "http://a.test/u/:id?x=1", "variable": [{"key": "id", "value": "7"}]}}"#
        let parts =
            #"{"url": {"protocol": "https", "host": "b.test", "port": "8443", "path": "/x/:id/:other", "variable": [{"key": "id", "value": "8"}]}}"#
        let key =
            #"{"url": "http://a.test/k", "auth": {"type": "apikey", "apikey": [{"key": "key", "value": "k"}, {"key": "value", "value": "v w"}, {"key": "in", "value": "query"}]}}"#
        let text = Self.collection([raw, parts, key].map { Self.item($0) }.joined(separator: ","), variables: "")
        let exchanges = try self.run(text, .postman) { $0.redaction = nil }.interactions
        #expect(
            exchanges.map(\.request.url) == ["http://a.test/u/7?x=1", "https://b.test:8443/x/8/:other", "http://a.test/k?k=v%20w"])
    }

    @Test func anAnswerWithoutAStatusDoesNotStopTheOthers() throws {
        let items = [Self.item(#"{"url": "http://a.test/1"}"#, #"{"body": "x"}"#), Self.item(#"{"url": "http://a.test/2"}"#)]
        let (report, exchanges) = try self.run(Self.collection(items.joined(separator: ","), variables: ""), .postman)
        #expect(exchanges.map(\.request.url) == ["http://a.test/2"] && self.losses(report)["status"] == 1)
    }

    @Test func aTextOfACollectionGoesBackIntoItsCharset() throws {
        let type = #""header": [{"key": "Content-Type", "value": "text/plain; charset=iso-8859-1"}]"#
        let items = [#"\u00e9"#, #"\ufffdPNG"#].map {
            Self.item(#"{"url": "http://a.test/1"}"#, #"{"code": 200, \#(type), "body": "\#($0)"}"#)
        }
        let exchanges = try self.run(Self.collection(items.joined(separator: ","), variables: ""), .postman).interactions
        #expect(try self.importing.bytes(exchanges[0].response?.body) == [0xE9] && exchanges[0].outcome == .complete)
        #expect(exchanges[1].response?.body?.isComplete == false && exchanges[1].outcome != .complete)
    }

    @Test func ourOwnCollectionIsReadAgain() throws {
        let entry = HARText.entry(
            "POST", "http://a.test/p?q=%20",
            request: #", "postData": {"mimeType": "application/json", "text": "{\"password\": \"hunter2hunter2\"}"}"#,
            headers: #"{"name": "Content-Type", "value": "application/json"}"#, response: #""content": {"size": 2, "text": "{\"a\":1}"}"#)
        let binary = HARText.entry(
            "GET", "http://a.test/b", headers: #"{"name": "Content-Type", "value": "image/png"}"#,
            response: #""content": {"size": 3, "text": "AAH/", "encoding": "base64"}"#)
        let first = try self.importing.run(HARText.log(entry, binary)).interactions
        var text: [UInt8] = []
        var writer = PostmanCollection(ExportTarget(path: self.importing.cassette) { text += $0 })
        try writer.begin()
        for (index, interaction) in first.enumerated() { try writer.append(interaction, number: index + 1) }
        try writer.end()
        let again = try Importing()
        let (report, second) = try again.run(bytes: text, as: "c.postman_collection.json")
        #expect(report.sources[0].kind == .postman && second.map(\.request.url) == first.map(\.request.url))
        #expect(try again.bytes(second[0].request.body) == self.importing.bytes(first[0].request.body))
        #expect(try again.bytes(second[0].response?.body) == Array(#"{"a":1}"#.utf8))
        // Postman only stores text: a missing body is truncated, not empty.
        #expect(second[1].response?.body?.isComplete == false && second[1].outcome != .complete)
    }

    // MARK: Other tools

    @Test(arguments: [
        ("x.chls", "anything", "Charles"), ("x.proxymanlogv2", "PK", "Proxyman"),
        ("x.json", #"{"openapi": "3.1.0", "paths": {}}"#, "OpenAPI"),
        ("x.yaml", "openapi: 3.0.0\npaths: {}\n", "OpenAPI"), ("x.json", #"{"_type": "export", "__export_format": 4}"#, "Insomnia"),
        ("x.yaml", "type: collection.insomnia.rest/5.0\n", "Insomnia"), ("x.pcap", "\u{0A}\u{0D}\u{0D}\u{0A}", "Wireshark"),
        ("x.xml", "<?xml version='1.0'?><charles-session></charles-session>", "Charles"), ("x.jmx", "<jmeterTestPlan/>", "JMeter"),
        ("x.json", #"{"constants": {}, "events": []}"#, "Chrome"), ("x.db", "SQLite format 3\u{0}", "SQLite"),
        ("x.js", "nock('http://a.test:80')\n  .get('/x')\n  .reply(200, {});\n", "output_objects: true"),
        ("x.js", "<<<<<<-- cut here -->>>>>>\nnock(\"https://a.test\", {})\n  .get('/')", "output_objects: true"),
        ("x.txt", "> GET /x HTTP/1.1\r\n> Host: a.test\r\n> \r\n< HTTP/1.1 200 OK\r\n< \r\nhi", "curl"),
        ("x.txt", "*   Trying 127.0.0.1:80...\n> GET /x HTTP/2\n> Host: a.test\n", "curl"),
        ("x.txt", "== Info:   Trying 1.2.3.4\n", "curl"),
        ("x.httprr", "httprr trace v2\n1 1\nab", "httprr trace v2"),
        ("x.yaml", "!tape\nname: x\ninteractions:\n- recorded: 2026-01-01T00:00:00.000Z\n", "OkReplay"),
        ("x.json5", "{\n  meta: {\n    createdAt: new Date,\n  },\n  req: {\n    url: \"/x\"}}", "Talkback"),
        ("x.tape", #"{"meta": {"createdAt": "x"}, "req": {"url": "/x"}, "res": {"status": 200}}"#, "Talkback"),
        ("x.jtl", "timeStamp,elapsed,label\n1,2,x\n", "JMeter"), ("x.csv", "timeStamp,elapsed,label\n1,2,x\n", "JMeter"),
        ("x.js", "var p = require(\"path\");\nmodule.exports = function (req, res) {", "yakbak"),
        ("x.http", "### a\nGET http://a.test/x\nAccept: */*\n", "an editor's HTTP client"),
        ("x.rest", "GET /x\n", "an editor's HTTP client"),
        ("x.json", #"{"name": "x", "values": [], "_postman_variable_scope": "environment"}"#, "--placeholder NAME=VALUE"),
        ("x.json", #"{"id": "x", "name": "x", "requests": [{"url": "http://a"}]}"#, "Postman, in format 1"),
        ("x.json", #"{"consumer": {"name": "a"}, "provider": {"name": "b"}, "interactions": []}"#, "Pact"),
        ("x.json", #"{"client": "Thunder Client", "collectionName": "x", "requests": []}"#, "Thunder Client"),
        ("x.json", #"{"requests": [{"id": "x", "request": {}, "responseDefinition": {"status": 200}}]}"#, "WireMock's journal"),
        ("x.json", #"[{"v": 2, "name": "x", "folders": [], "requests": []}]"#, "Hoppscotch"),
        ("x.json", #"{"v": 2, "name": "x", "folders": [], "requests": []}"#, "Hoppscotch"),
        ("x.json", #"[{"request": {"method": "get", "url": "http://a.test/x"}, "response": {"status_code": 200, "type": "ok"}}]"#, "ExVCR"),
        (
            "x.yml",
            "-\n    request:\n        method: GET\n        url: 'http://a.test/x'\n    response:\n        status:\n            code: '200'\n",
            "PHP-VCR"
        ),
        ("x.json", #"[{"httpRequest": {}, "httpResponse": {}}]"#, "MockServer"), ("x.bru", "get {\n}\n", "Bruno"),
    ]) func filesOfOtherToolsAreNamed(_ name: String, _ text: String, _ tool: String) throws {
        let message = try self.importing.failure(text, as: name)
        #expect(message.contains(name) && message.contains(tool) && message.hasSuffix("."), "\(message)")
    }

    @Test(arguments: [
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "x.xz", "xz -d"), (Array("BZh9".utf8), "x.bz2", "bunzip2"),
        ([0x28, 0xB5, 0x2F, 0xFD], "x.zst", "zstd -d"), ([0x8B, 0x02, 0x80, 0xFF], "x.br", "brotli -d"),
        ([0x04, 0x22, 0x4D, 0x18], "x.lz4", "lz4 -d"), ([UInt8](repeating: 97, count: 257) + Array("ustar".utf8), "x.tar", "tar -xf"),
    ]) func eachCompressionIsNamedWithItsCommand(_ beginning: [UInt8], _ name: String, _ command: String) throws {
        let file = beginning + [0, 1, 2, 3]
        for bytes in [file, Self.gzip(file)] where bytes == file || !name.hasSuffix(".br") {
            let error = #expect(throws: CassetteError.self) { try Importing().run(bytes: bytes, as: name) }
            #expect(error?.message.contains("\"\(command)\"") == true, "\(error?.message ?? "")")
        }
    }

    @Test func gzipInGzipIsNamed() throws {
        let twice = Self.gzip(Self.gzip(Array("{}".utf8)))
        let error = #expect(throws: CassetteError.self) { try Importing().run(bytes: twice, as: "x.gz.gz") }
        #expect(error?.message.contains("compressed twice with gzip") == true)
    }

    /// One stored block (RFC 1951, 3.2.4; RFC 1952, 2.3).
    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        func little(_ value: UInt32, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) } }
        let size = UInt32(bytes.count)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + little(size, 2) + little(~size, 2) + bytes + little(PlainCRC32.value(bytes), 4)
            + little(size, 4)
    }
}
