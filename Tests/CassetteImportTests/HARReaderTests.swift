import CassetteFormat
import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

@Suite struct HARReaderTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private func one(_ entry: String, before: String = "") throws -> Interaction {
        let (_, interactions) = try self.importing.run(HARText.log(entry, before: before))
        return try #require(interactions.first)
    }

    private func losses(_ entry: String) throws -> [String: Int] {
        let report = try self.importing.run(HARText.log(entry)).report
        return Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
    }

    @Test func anEntryIsAnExchange() throws {
        let more = #""serverIPAddress": "10.0.0.1", "connection": "7", "#
        let exchange = try self.one(HARText.entry(more: more))
        #expect(exchange.started == Timestamp("2024-01-02T03:04:05.678Z"))
        #expect(exchange.request.method == "GET" && exchange.request.url == "http://a.test/pets")
        #expect(exchange.request.headers.lines == ["Host: a.test"] && exchange.request.body == nil)
        #expect(exchange.response?.status == 200 && exchange.response?.headers.lines == ["Content-Type: text/plain"])
        #expect(try self.importing.bytes(exchange.response?.body) == Array("hi".utf8))
        #expect(exchange.timing == Timing(send: 1, wait: 2, receive: 3, total: 9))
        #expect(exchange.connection == ConnectionInfo(id: 7, remote: "10.0.0.1:80", isReused: false))
        #expect(exchange.outcome == .complete)
    }

    @Test func aConnectionOfAnyNameHasAnIDOfItsOwn() throws {
        let names = ["9223372036854775807", "2", "x", "", "1", "x", ""]
        let entries = names.map { HARText.entry(more: #""serverIPAddress": "10.0.0.1", "connection": "\#($0)", "#) }
        let (_, exchanges) = try self.importing.run(HARText.log(entries.joined(separator: ",")))
        #expect(exchanges.map { $0.connection?.id } == [1, 2, 3, 4, 5, 3, 6])
        #expect(exchanges.map { $0.connection?.isReused } == [false, false, false, false, false, true, false])
    }

    @Test func entriesAreInTheOrderOfTheirStartAndTheFile() throws {
        let early = HARText.entry("GET", "http://a.test/2").replacing("2024-01-02", with: "2023-01-02")
        let (_, exchanges) = try self.importing.run(
            HARText.log(HARText.entry("GET", "http://a.test/1"), early, HARText.entry("GET", "http://a.test/3")))
        #expect(exchanges.map(\.request.url) == ["http://a.test/2", "http://a.test/1", "http://a.test/3"])
    }

    @Test func titlesAndCommentsAreKeptWithoutTheirSecrets() throws {
        // The first is recognized by its shape, the second only by a field of the last entry.
        let (key, late) = ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "violet-tapir-parade-77")
        let page = """
            "comment": "with \(key)", "browser": {"name": "Firefox", "version": "130.0", "comment": "\(late)"},
            "pages": [{"startedDateTime": "2024-01-02T03:04:05Z", "id": "page_1", "title": "https://a.test/#x=\(late)&y=1",
             "_URL": "https://a.test/?token=\(key)", "pageTimings": {"onLoad": 12.5, "comment": "loaded"}}],
            """
        let more = #""pageref": "page_1", "comment": "as \#(late) said", "cache": {"comment": "\#(key)"}, "connection": "ClientPort:5", "#
        let last = HARText.entry(headers: #"{"name": "Set-Cookie", "value": "session=\#(late)"}"#)
        let text = HARText.log(HARText.entry(more: more), last, before: page)
        let report = try self.importing.run(text) { $0.isStrict = true }.report
        let cassette = String(decoding: try self.importing.folder.read("out.json"), as: UTF8.self)
        #expect(!cassette.contains(key) && !cassette.contains(late) && report.leaks.isEmpty)
        for kept in ["Firefox", "130.0", "page_1", "12.5", "loaded", "https://a.test/#x=", "&y=1", " said", "with ", "ClientPort:5"] {
            #expect(cassette.contains(kept), "\(kept)")
        }
        let open = try Importing()
        #expect(try open.run(text) { $0.redaction = nil }.report.losses.isEmpty)
        let whole = String(decoding: try open.folder.read("out.json"), as: UTF8.self)
        #expect(whole.components(separatedBy: late).count == 5 && whole.components(separatedBy: key).count == 4)
    }

    @Test func timesHaveOffsetsAndAnyNumberOfDecimals() {
        #expect(SourceWords.time("2024-01-02T03:04:05.1234567+01:30") == Timestamp("2024-01-02T01:34:05.123456Z"))
        #expect(SourceWords.time("2024-01-02T03:04:05-0200") == Timestamp("2024-01-02T05:04:05Z"))
        #expect(SourceWords.time("2024-01-02 03:04:05 UTC") == Timestamp("2024-01-02T03:04:05Z"))
        #expect(SourceWords.time("Tue Jan 02 2024") == nil)
    }

    @Test func aBodyWithoutItsCompressionMovesTheFieldsOfTheCodedOne() throws {
        let headers = #"{"name": "Content-Encoding", "value": "br"}, {"name": "Content-Length", "value": "6"}"#
        let entry = HARText.entry(headers: headers)
        let exchange = try self.one(entry)
        #expect(exchange.response?.headers.lines == ["Content-Length: 2"])
        #expect(exchange.response?.codedHeaders?.lines == ["Content-Encoding: br", "Content-Length: 6"])
        #expect(try Importing().run(HARText.log(entry)).report.losses.map(\.kind) == ["codedBody"])
    }

    @Test func aCompressedBodyInBase64StaysCompressed() throws {
        let gzip = #"{"name": "Content-Encoding", "value": "gzip"}"#
        let entry = HARText.entry(
            headers: gzip, response: #""content": {"text": "H4sIAAAAAAAAA8vIBACsKpPYAgAAAA==", "encoding": "base64"}"#)
        let (report, exchanges) = try self.importing.run(HARText.log(entry))
        #expect(exchanges[0].response?.headers.lines == ["Content-Encoding: gzip"] && exchanges[0].response?.codedHeaders == nil)
        #expect(exchanges[0].response?.body?.codings.count == 1 && report.losses.isEmpty)
    }

    @Test func chunksOfPollyArePutTogether() throws {
        let gzip = #"{"name": "Content-Encoding", "value": "gzip"}"#
        for text in [#"[\"H4sIAAAAAAAAA8vI\",\"BACsKpPYAgAAAA==\"]"#, #"[\"1f8b08000000000000\",\"03cbc80400ac2a93d802000000\"]"#] {
            let entry = HARText.entry(headers: gzip, response: #""content": {"text": "\#(text)", "encoding": "base64"}"#)
            let exchange = try Importing().run(HARText.log(entry, before: #""_recordingName": "x", "#)).interactions[0]
            #expect(exchange.response?.body?.content == .text(Array("hi".utf8)), "\(text)")
        }
    }

    @Test func aListOfTextsIsNoChunks() throws {
        for before in ["", #""_recordingName": "x", "#] {
            let entry = HARText.entry(response: #""content": {"size": 8, "text": "[\"eBay\"]"}"#)
            let exchange = try Importing().run(HARText.log(entry, before: before)).interactions[0]
            #expect(exchange.response?.body?.size == 8)
        }
    }

    @Test func separateCookiesAndQueryBecomeFieldsAndAURL() throws {
        let request = """
            , "cookies": [{"name": "a", "value": "1"}, {"name": "b", "value": "x\\r\\ny"}, {"name": "c", "value": "2"}],
             "queryString": [{"name": "q", "value": "a b"}, {"name": "r", "value": ""}]
            """
        let response = """
            "content": {"text": "hi"}, "cookies": [{"name": "s", "value": "t", "path": "/", "expires": "2026-11-21T04:19:28.000Z",
             "httpOnly": true, "secure": false}, {"name": "u", "value": "v"}]
            """
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry(request: request, response: response))) {
            $0.redaction = nil
        }
        #expect(exchanges[0].request.url == "http://a.test/pets?q=a%20b&r=")
        #expect(exchanges[0].request.headers.lines == ["Host: a.test", "Cookie: a=1; c=2"])
        let lines = exchanges[0].response?.headers.lines ?? []
        #expect(lines.dropFirst() == ["Set-Cookie: s=t; Expires=Sat, 21 Nov 2026 04:19:28 GMT; Path=/; HttpOnly", "Set-Cookie: u=v"])
        #expect(report.losses.map(\.kind) == ["fields"])
    }

    @Test func cookiesThatAreFieldsComeOnce() throws {
        let cookie = #"{"name": "Set-Cookie", "value": "s=t; Max-Age=5"}"#
        let response = #""content": {"text": "hi"}, "cookies": [{"name": "s", "value": "t"}]"#
        #expect(try self.one(HARText.entry(headers: cookie, response: response)).response?.headers.lines.count == 1)
    }

    @Test(arguments: [
        #"{"text": "hello", "encoding": "rot13"}"#, #"{"text": "hello", "encoding": "gzip"}"#, #"{"text": "hello", "encoding": "hex"}"#,
    ])
    func aTextOfAnUnknownEncodingIsLost(content: String) throws {
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry(response: "\"content\": \(content)")))
        #expect(exchanges[0].response?.body?.isComplete == false && exchanges[0].outcome != .complete)
        #expect(report.losses.contains { $0.kind == "encoding" })
    }

    @Test(arguments: ["", "UTF-8", "utf8", "identity"]) func aTextThatSaysSoIsOne(encoding: String) throws {
        let exchange = try self.one(HARText.entry(response: #""content": {"text": "hello", "encoding": "\#(encoding)"}"#))
        #expect(try self.importing.bytes(exchange.response?.body) == Array("hello".utf8) && exchange.outcome == .complete)
    }

    @Test(arguments: [#"{"a": "1"}"#, #""a=1""#, "7", #"[{"name": "a", "value": 1}]"#, #"["a"]"#])
    func paramsThatAreNoListOfPairsAreAMissingBody(params: String) throws {
        let post = #", "postData": {"mimeType": "application/x-www-form-urlencoded", "params": \#(params)}"#
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry("POST", request: post)))
        #expect(exchanges[0].request.body?.isComplete == false)
        #expect(report.losses.map(\.kind) == ["requestBody"])
    }

    @Test(arguments: ["{}", "[]", "null"]) func emptyParamsAreNoBody(params: String) throws {
        let entry = HARText.entry("POST", request: #", "postData": {"mimeType": "", "params": \#(params)}"#)
        #expect(try self.one(entry).request.body == nil)
    }

    /// "Matches any" means both an empty body and no body.
    @Test(arguments: [nil, "", "a=1"]) func aRequestWhoseBodyIsMissingMatchesAny(body: String?) throws {
        let post = #", "bodySize": 20"#
        _ = try self.importing.run(HARText.log(HARText.entry("POST", request: post)))
        let session = try CassetteSession(mode: .none, cassette: RecordedCassette(path: self.importing.cassette))
        let headers = HeaderFields(body == nil ? [] : ["Content-Length: \(body?.utf8.count ?? 0)"])
        switch session.begin(method: "POST", url: "http://a.test/pets", headers: headers, hasBody: body?.isEmpty == false) {
        case .decided(let decision): #expect(decision == .replay(index: 0))
        case .needsBody(let pending):
            var live = pending.body()
            Array((body ?? "").utf8).withUnsafeBytes { live.push($0) }
            #expect(try session.resolve(pending, body: live.finish()) == .replay(index: 0))
        }
    }

    @Test func pagesAfterTheEntriesAreCounted() throws {
        let log = HARText.log(HARText.entry())
        let late = log.dropLast(2) + #", "browser": {}, "comment": "", "pages": [{"id": "page_1"}]}}"#
        #expect(try self.importing.run(String(late)).report.losses.map(\.kind) == ["late"])
        let none = try Importing().run(String(log.dropLast(2) + #", "pages": []}}"#))
        #expect(none.report.losses.isEmpty)
    }

    @Test func commentsOfFieldsAreCounted() throws {
        let request = #", "comment": "a", "cookies": [{"name": "a", "value": "1", "comment": "b"}]"#
        let entry = HARText.entry(request: request, headers: #"{"name": "X", "value": "1", "comment": "c"}"#)
        #expect(try self.losses(entry) == ["comment": 2])
    }

    @Test(arguments: ["http:///x", "http://", "http://:80/", "http://[::1/x", "http://u@/", "https://?a"])
    func aURLWithoutAHostIsLeftOut(_ url: String) throws {
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry("GET", url), HARText.entry("GET", "http://[::1]:8/x")))
        #expect(report.losses.map(\.kind) == ["notHTTP"] && exchanges.count == 1)
    }

    @Test func aTunnelIsLeftOut() throws {
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry("CONNECT", "http://a.test:443"), HARText.entry()))
        #expect(report.losses.map(\.kind) == ["notHTTP"] && exchanges.count == 1)
    }

    @Test func aTextIsPutBackIntoItsCharset() throws {
        let type = #"{"name": "Content-Type", "value": "text/plain; charset=iso-8859-1"}"#
        let exchange = try self.one(HARText.entry(headers: type, response: #""content": {"text": "\u00fcber"}"#))
        #expect(try self.importing.bytes(exchange.response?.body) == [0xFC] + Array("ber".utf8))
    }

    @Test(arguments: [
        // Shorter than it was, by its size or its length alone, or as Firefox says.
        ("text/plain", "", #""content": {"size": 99, "text": "hi"}"#),
        ("text/plain", "99", #""content": {"size": 99, "text": "hi"}"#), ("text/plain", "99", #""content": {"text": "hi"}"#),
        ("text/plain", "", #""content": {"text": "hi", "comment": "Response body is truncated"}"#),
        ("text/plain", "", #""content": {"size": 9, "text": "aGk=", "encoding": "base64"}"#),
        // Came, and is not there.
        ("text/plain", "", #""bodySize": 7, "content": {"size": 0}"#),
        ("text/plain", "", #""bodySize": 7, "content": {"size": 0, "text": ""}"#),
        // Was no text, or one of another charset.
        ("image/png", "2", #""content": {"size": 2, "text": "h\ufffd"}"#), ("image/png", "", #""content": {"text": "h\ufffd"}"#),
        ("image/png", "", #""content": {"size": 2, "text": "h\u00e9"}"#), ("text/plain", "1", #""content": {"size": 1, "text": "\u00e9"}"#),
    ]) func aBodyThatIsNotAllThatCameIsCut(_ type: String, _ length: String, _ response: String) throws {
        let field = length.isEmpty ? "" : #", {"name": "Content-Length", "value": "\#(length)"}"#
        let entry = HARText.entry(headers: #"{"name": "Content-Type", "value": "\#(type)"}\#(field)"#, response: response)
        let (report, exchanges) = try self.importing.run(HARText.log(entry))
        #expect(exchanges[0].response?.body?.isComplete == false && report.losses.map(\.kind) == ["responseBody"])
        guard case .cut(let cut) = exchanges[0].outcome else { throw TestProblem("\(exchanges[0].outcome)") }
        #expect(cut.by == .origin)
    }

    @Test(arguments: [
        ("4", #""content": {"size": 4, "text": "h\ufffd"}"#), ("", #""bodySize": -1, "content": {"size": 0, "text": ""}"#),
        ("0", #""bodySize": 7, "content": {"size": 0}"#), ("", #""content": {"size": 4, "text": "aGk=", "encoding": "base64"}"#),
        ("", #""content": {"size": 1, "text": "\u00e9"}"#), ("99", #""content": {"size": 2, "text": "hello"}"#),
    ]) func aBodyThatCanBeAllThatCameIsComplete(_ length: String, _ response: String) throws {
        let field = length.isEmpty ? "" : #", {"name": "Content-Length", "value": "\#(length)"}"#
        let entry = HARText.entry(headers: #"{"name": "Content-Type", "value": "text/plain"}\#(field)"#, response: response)
        let exchange = try self.one(entry)
        #expect(exchange.response?.body?.isComplete != false && exchange.outcome == .complete)
    }

    @Test(arguments: [#""text": "hi""#, #""text": "h\ufffd""#, #""text": "aGk=", "encoding": "base64""#])
    func aRequestBodyThatIsNotAllThatWasSentIsMissing(_ text: String) throws {
        let request = #", "bodySize": 99, "postData": {"mimeType": "text/plain", \#(text)}"#
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry("POST", request: request)))
        #expect(exchanges[0].request.body?.isComplete == false && report.losses.map(\.kind).contains("requestBody"))
    }

    @Test(arguments: ["text/plain; charset=iso-8859-1", "text/plain; charset=utf-16", "text/plain; charset=utf-8", "text/plain"])
    func anExportKeepsTheBytesUnderAnyCharset(_ type: String) throws {
        let bytes = Array("na\u{EF}ve \u{20AC}".utf8)
        var interaction = Interaction.sample(1, "POST", "http://a.test/1", body: Body(size: bytes.count, content: .text(bytes)))
        interaction.response?.headers = HeaderFields(["Content-Type: \(type)"])
        interaction.request.headers = HeaderFields(["Content-Type: \(type)"])
        interaction.request.body = Body(size: bytes.count, content: .text(bytes))
        var text: [UInt8] = []
        var archive = HARWriter { text.append(contentsOf: $0) }
        try archive.begin(creator: "x", version: "1")
        try archive.append(interaction)
        try archive.end()
        let exchange = try self.importing.run(bytes: text, as: "x.har").interactions[0]
        #expect(try self.importing.bytes(exchange.response?.body) == bytes && self.importing.bytes(exchange.request.body) == bytes)
    }

    @Test func aURLThatNoClientCanSendIsCounted() throws {
        let long = HARText.entry("GET", "http://a.test/\(String(repeating: "x", count: 64 << 10))")
        let (report, exchanges) = try self.importing.run(HARText.log(long, HARText.entry()))
        #expect(exchanges.count == 1 && report.losses.map(\.kind) == ["longURL"])
    }

    @Test func anAnswerWithoutItsBodyIsCut() throws {
        let entry = HARText.entry(response: #""content": {"size": 17, "mimeType": "text/plain"}"#)
        let exchange = try self.one(entry)
        guard case .cut(let cut) = exchange.outcome else { throw TestProblem("\(exchange.outcome)") }
        #expect(cut.by == .origin && exchange.response?.body?.isComplete == false)
        #expect(try Importing().run(HARText.log(entry)).report.losses.map(\.kind) == ["responseBody"])
    }

    /// A client reads as many bytes as the length says, so that wrong ones would be a complete answer.
    @Test(arguments: [
        (#"a\ufffdb"#, 3, "a"), ("aüü", 3, "a"), (#"\ufffd"#, 1, ""), ("ab", 5, "ab"), ("aüb", 5, "aüb"),
    ]) func aCutTextKeepsOnlyTheBytesThatWereSent(_ text: String, _ length: Int, _ kept: String) throws {
        let headers = #"{"name": "Content-Type", "value": "image/png"}, {"name": "Content-Length", "value": "\#(length)"}"#
        let entry = HARText.entry(headers: headers, response: #""content": {"size": \#(length), "text": "\#(text)"}"#)
        let exchange = try self.one(entry)
        #expect(exchange.response?.body?.isComplete == false)
        #expect(try self.importing.bytes(exchange.response?.body) == Array(kept.utf8))
    }

    /// A browser gave up the connection after the last byte.
    @Test func aWholeBodyBeforeAFailureStays() throws {
        let headers = #"{"name": "Content-Type", "value": "text/plain"}, {"name": "Content-Length", "value": "2"}"#
        let exchange = try self.one(
            HARText.entry(headers: headers, response: #""_error": "net::ERR_ABORTED", "content": {"size": 2, "text": "hi"}"#))
        #expect(try self.importing.bytes(exchange.response?.body) == Array("hi".utf8))
    }

    @Test func statusZeroIsAFailureOfTheKindThatTheBrowserNames() throws {
        let cases: [(String, Failure.Kind)] = [
            ("net::ERR_NAME_NOT_RESOLVED", .dns), ("net::ERR_CONNECTION_REFUSED", .refused), ("net::ERR_CERT_AUTHORITY_INVALID", .tls),
            ("net::ERR_TIMED_OUT", .timeout), ("net::ERR_ABORTED", .cancelled), ("net::ERR_EMPTY_RESPONSE", .reset),
        ]
        for (error, kind) in cases {
            let entry = HARText.entry(status: 0, response: #""_error": "\#(error)""#)
            let exchange = try Importing().run(HARText.log(entry)).interactions[0]
            #expect(exchange.outcome == .failed(Failure(kind: kind, message: error)) && exchange.response == nil)
        }
    }

    @Test func blockedAndNonHTTPEntriesAreOmittedAndCounted() throws {
        let blocked = HARText.entry(status: 0, response: #""_error": "net::ERR_BLOCKED_BY_CLIENT""#)
        let data = HARText.entry("GET", "data:text/plain,hi")
        let (report, exchanges) = try self.importing.run(HARText.log(blocked, data, HARText.entry(), data))
        #expect(exchanges.count == 1 && report.exchanges == 1)
        #expect(report.losses.map(\.kind) == ["notHTTP", "blocked"] && report.losses.map(\.count) == [2, 1])
        #expect(report.losses[0].first.hasSuffix("entry 2"), "\(report.losses[0].first)")
    }

    @Test func pseudoFieldsAndLinesInValuesAreNoFieldsOfTheirOwn() throws {
        let headers = #"""
            {"name": ":status", "value": "200"}, {"name": "Set-Cookie", "value": "a=1\nb=2"}, {"name": "x y", "value": "1"},
            ["X-Pair", "kept"], {"name": "X-List", "value": ["1", "2"]}, {"name": "X-Bad", "value": "a\u0000b"}
            """#
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry(headers: headers)))
        #expect(exchanges[0].response?.headers.count == 5)
        #expect(exchanges[0].response?.headers.lines.suffix(3) == ["X-Pair: kept", "X-List: 1", "X-List: 2"])
        #expect(report.losses.map(\.kind) == ["fields"] && report.losses[0].count == 2)
    }

    @Test func laterVersionsOfHTTPAreKnown() throws {
        for (text, version, later) in [("http/2.0", HTTPVersion.http2, 0), ("h3", .http2, 2), ("", .http11, 0), ("HTTP/1.0", .http10, 0)] {
            let entry = HARText.entry().replacing("HTTP/1.1", with: text)
            let (report, exchanges) = try Importing().run(HARText.log(entry))
            #expect(exchanges[0].request.version == version && exchanges[0].response?.version == version)
            #expect(report.losses.reduce(0) { $0 + $1.count } == later)
        }
    }

    @Test func formsHaveTheirFieldsAlone() throws {
        let params =
            #", "postData": {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a b", "value": "1&2"}, {"name": "c"}]}"#
        let exchange = try self.one(HARText.entry("POST", request: params))
        #expect(try self.importing.bytes(exchange.request.body) == Array("a+b=1%262&c=".utf8))
        #expect(exchange.request.headers.lines.last == "Content-Type: application/x-www-form-urlencoded")
    }

    @Test func partsAreWrittenWithTheBoundaryOfTheirType() throws {
        let params = #"""
            , "postData": {"mimeType": "multipart/form-data; boundary=xyz", "params": [{"name": "a", "value": "1"},
             {"name": "f", "fileName": "x.txt", "contentType": "text/plain", "value": "hi"}]}
            """#
        let exchange = try self.one(HARText.entry("POST", request: params))
        guard case .multipart(let body)? = exchange.request.body?.content else { throw TestProblem("no parts") }
        #expect(body.parts.count == 2)
        let text = "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xyz\r\n"
        #expect(try self.importing.bytes(exchange.request.body).starts(with: Array(text.utf8)))
    }

    @Test func aFormWithAnEmptyTextHasItsFields() throws {
        let data = #", "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "", "params": [{"name": "a", "value": "1"}]}"#
        #expect(try self.importing.bytes(self.one(HARText.entry("POST", request: data)).request.body) == Array("a=1".utf8))
    }

    @Test(arguments: [
        #", "_requestBodyStatus": "discarded:too-large""#, #", "bodySize": 9"#,
        #", "bodySize": 9, "postData": {"mimeType": "", "text": ""}"#,
        #", "postData": {"mimeType": "multipart/form-data; boundary=x", "text": "", "params": [{"name": "a", "fileName": "b"}]}"#,
    ])
    func aRequestThatLacksItsBodyIsCounted(_ request: String) throws {
        let (report, exchanges) = try self.importing.run(HARText.log(HARText.entry("POST", request: request)))
        #expect(report.losses.map(\.kind) == ["requestBody"] && exchanges[0].request.body?.isComplete == false)
    }

    @Test func emptyPostDataOfAGetIsNoBody() throws {
        let exchange = try self.one(HARText.entry(request: #", "postData": {"mimeType": "", "text": ""}"#))
        #expect(exchange.request.body == nil)
    }

    @Test func aBodyInAFileIsReadNextToTheArchive() throws {
        try self.importing.folder.write("from a file".utf8, to: "body.txt")
        let exchange = try self.one(HARText.entry(response: #""content": {"_file": "body.txt"}"#))
        #expect(try self.importing.bytes(exchange.response?.body) == Array("from a file".utf8))
    }

    @Test func aZIPFileHasTheArchiveAndItsBodies() throws {
        let entry = HARText.entry(response: #""content": {"_file": "b.txt"}"#)
        let zip = ZipFile.stored([("x.har", Array(HARText.log(entry).utf8)), ("b.txt", Array("zipped".utf8))])
        let (report, exchanges) = try self.importing.run(bytes: zip, as: "x.zip")
        #expect(report.sources[0].kind == .har)
        #expect(try self.importing.bytes(exchanges[0].response?.body) == Array("zipped".utf8))
        for cut in [10, zip.count - 30, zip.count - 1] {
            let broken = try Importing()
            let file = try broken.folder.write(zip.prefix(cut), to: "x.zip")
            #expect(throws: CassetteError.self) { try CassetteImporter(ImportOptions()).run([file], to: broken.cassette, version: "1") }
        }
        var changed = zip
        // One byte of the body.
        changed[zip.count - 22 - 2 * (46 + 5) - 1] ^= 1
        let broken = try Importing()
        #expect(throws: CassetteError.self) { try broken.run(bytes: changed, as: "x.zip") }
        #expect(try broken.folder.names() == ["x.zip"])
    }

    @Test(arguments: ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "..", ""])
    func aNameThatLeavesTheFolderIsRefused(_ name: String) throws {
        let entry = HARText.entry(response: #""content": {"_file": "\#(name)"}"#)
        let message = try self.importing.failure(HARText.log(HARText.entry(), entry))
        #expect(!message.isEmpty)
        #expect(try self.importing.folder.names() == ["in.har"])
    }

    @Test func messagesOfAWebSocketAreSecondsOrMilliseconds() throws {
        let times = ["1704164646", "1704164646000"]
        for time in times {
            let more = #"""
                "_webSocketMessages": [{"type": "send", "time": \#(time), "opcode": 1, "data": "hi"},
                 {"type": "receive", "time": \#(time), "opcode": 2, "data": "AQI="}],
                """#
            let entry = HARText.entry("GET", "ws://a.test/chat", status: 101, response: #""content": {}"#, more: more)
            let exchange = try Importing().run(HARText.log(entry)).interactions[0]
            guard case .inline(let messages)? = exchange.webSocket else { throw TestProblem("no messages") }
            #expect(exchange.request.url == "http://a.test/chat")
            #expect(messages.map(\.at) == [322, 322] && messages.map(\.from) == [.client, .server])
            #expect(messages.map(\.content) == [.text(.text(Array("hi".utf8))), .binary(.bytes([1, 2]))])
        }
    }

    @Test func controlFramesAreNoTexts() throws {
        let more = #"""
            "_webSocketMessages": [{"type": "send", "time": 1704164646, "opcode": 9, "data": "eA=="},
             {"type": "receive", "time": 1704164646, "opcode": 10, "data": "x"}, {"type": "receive", "time": 1704164646, "opcode": 5, "data": ""},
             {"type": "receive", "time": 1704164646, "opcode": 8, "data": "A+g="}], "_webSocketClose": {"code": 1001},
            """#
        let entry = HARText.entry("GET", "ws://a.test/chat", status: 101, response: #""content": {}"#, more: more)
        let (report, exchanges) = try self.importing.run(HARText.log(entry))
        guard case .inline(let messages)? = exchanges[0].webSocket else { throw TestProblem("no messages") }
        #expect(messages.dropFirst(2).map(\.content) == [.close(WebSocketClose(code: 1000))] && messages.count == 3)
        #expect(messages.map(\.from) == [.client, .server, .server])
        for message in messages.prefix(2) { if case .text = message.content { Issue.record("a text") } }
        #expect(report.losses.map(\.kind) == ["unknownPart"])
    }

    @Test(arguments: [1005, 1006, 1015])
    func aCloseThatNeverArrivedIsNoMessage(_ code: Int) throws {
        let more = #""_webSocketMessages": [], "_webSocketClose": {"code": \#(code)}, "#
        let entry = HARText.entry("GET", "ws://a.test/chat", status: 101, response: #""content": {}"#, more: more)
        guard case .inline(let messages)? = try self.one(entry).webSocket else { throw TestProblem("no messages") }
        #expect(messages.isEmpty)
    }

    @Test func secretsAreTakenOut() throws {
        let request = #", "postData": {"mimeType": "application/json", "text": "{\"password\": \"correct horse\"}"}"#
        _ = try self.importing.run(HARText.log(HARText.entry("POST", request: request)))
        let text = String(decoding: try self.importing.folder.read("out.json"), as: UTF8.self)
        #expect(!text.contains("correct horse"))
        let kept = try Importing()
        _ = try kept.run(HARText.log(HARText.entry("POST", request: request))) { $0.redaction = nil }
        #expect(String(decoding: try kept.folder.read("out.json"), as: UTF8.self).contains("correct horse"))
    }

    @Test func strictFailsOnAnyLossAndWritesNothing() throws {
        let entry = HARText.entry(response: #""content": {"size": 17}"#)
        // A long body already has a file at that point.
        let long = HARText.entry(response: #""content": {"text": "\#(String(repeating: "0123456789", count: 20_000))"}"#)
        do {
            _ = try self.importing.run(HARText.log(long, entry)) { $0.isStrict = true }
            throw TestProblem("nothing was thrown")
        } catch let error as StrictImportError {
            #expect(error.losses.map(\.kind) == ["responseBody"])
        }
        #expect(try self.importing.folder.names() == ["in.har"])
        let whole = try Importing()
        #expect(try whole.run(HARText.log(HARText.entry())) { $0.isStrict = true }.report.exchanges == 1)
    }

    /// Each text with the position that its message must name.
    @Test(arguments: [
        (#"{"log": {"entries": [{"request"#, "line 1"), (#"{"log": {"entries": [1]}}"#, "entry 1"),
        (#"{"log": {"entries": {}}}"#, "log.entries"),
        (#"{"log": {"entries": [{"request": {"method": 1}}]}}"#, "entry 1, request: \"url\" is missing"),
        (#"{"log": {}}"#, "\"entries\" is missing"),
        ("{\"log\": {\"entries\": [\n{\"request\": {\"url\": [], \"method\": \"GET\"}}]}}", "line 2, entry 1, request.url"),
        (#"{"log": {"entries": []}} x"#, "expected nothing more"), ("", "is empty"), ("hello", "is not a recording that is known here"),
        (#"{"log": {"entries": [{]}}"#, "line 1"),
    ])
    func aDamagedArchiveIsReportedWithItsPosition(_ text: String, _ place: String) throws {
        let message = try self.importing.failure(text)
        #expect(message.contains(place), "\(message)")
        #expect(message.contains("in.har"), "\(message)")
    }

    @Test func aCassetteIsNotReplaced() throws {
        _ = try self.importing.run(HARText.log(HARText.entry()))
        #expect(throws: CassetteError.self) { try self.importing.run(HARText.log(HARText.entry())) }
        #expect(try RecordedExchanges.read(self.importing.cassette).count == 1)
    }

    @Test func aLongBodyComesOutWhole() throws {
        let text = String(repeating: "0123456789abcdef", count: 200_000)
        let exchange = try self.one(HARText.entry(response: #""content": {"text": "\#(text)"}"#))
        #expect(exchange.response?.body?.size == 3_200_000)
        #expect(try self.importing.bytes(exchange.response?.body) == Array(text.utf8))
    }

    @Test(arguments: [
        #""content": {"size": -1}"#, #""content": {"size": 0}, "bodySize": -1"#, #""content": {"size": -1, "text": ""}"#,
        #""content": {"size": 9, "text": ""}"#,
        #""content": {"size": 3, "text": "!!!", "encoding": "base64"}"#,
    ]) func anAnswerWhoseBodyIsUnknownIsCut(_ response: String) throws {
        // A separate length, where no other member indicates a body.
        let length = response.contains("bodySize") ? #", {"name": "Content-Length", "value": "512"}"# : ""
        let entry = HARText.entry(headers: #"{"name": "Content-Type", "value": "text/plain"}\#(length)"#, response: response)
        let (report, exchanges) = try Importing().run(HARText.log(entry))
        #expect(exchanges[0].response?.body?.isComplete == false && exchanges[0].outcome != .complete)
        #expect(report.losses.contains { $0.kind == "responseBody" })
    }

    @Test(arguments: [
        #""content": {"size": 0}"#, #""content": {"size": 0, "text": ""}"#, #""content": {"size": -1}, "_length": "0""#,
    ]) func anEmptyAnswerIsComplete(_ response: String) throws {
        let length = response.contains("_length") ? #", {"name": "Content-Length", "value": "0"}"# : ""
        let entry = HARText.entry(headers: #"{"name": "Content-Type", "value": "text/plain"}\#(length)"#, response: response)
        let (report, exchanges) = try Importing().run(HARText.log(entry))
        #expect(exchanges[0].response?.body?.isComplete == true && exchanges[0].outcome == .complete && report.losses.isEmpty)
    }

    @Test(arguments: [
        #""params": [{"name": "a", "value": 5}]"#, #""params": [{"name": "a", "value": {"b": 1}}]"#, #""params": ["a=b"]"#,
        #""params": [{"value": "x"}]"#,
        #""params": [{"name": "a", "value": "!!", "_encoding": "base64"}]"#, #""text": "!!!", "encoding": "base64""#,
    ]) func anUnknownRequestBodyIsReported(_ post: String) throws {
        let type = post.contains("_encoding") ? "multipart/form-data; boundary=b" : "application/x-www-form-urlencoded"
        let entry = HARText.entry("POST", request: #", "postData": {"mimeType": "\#(type)", \#(post)}"#)
        let (report, exchanges) = try Importing().run(HARText.log(entry))
        #expect(exchanges[0].request.body?.isComplete == false)
        #expect(report.losses.contains { $0.kind == "requestBody" || $0.kind == "base64" })
    }

    @Test func aPhaseOfACutAnswerIsExportedAsItWas() throws {
        let entry = HARText.entry(response: #""content": {"size": 9}"#).replacing(#""time": 9"#, with: #""time": 50"#)
        let exchange = try Importing().run(HARText.log(entry)).interactions[0]
        #expect(exchange.outcome != .complete && exchange.timing.receive == 3)
        var text: [UInt8] = []
        var writer = HARWriter { text += $0 }
        try writer.begin(creator: "x", version: "1")
        try writer.append(exchange)
        try writer.end()
        #expect(String(decoding: text, as: UTF8.self).contains(#""send": 1, "wait": 2, "receive": 3"#))
    }
}

extension String {
    fileprivate func replacing(_ word: String, with other: String) -> String {
        self.split(separator: word, omittingEmptySubsequences: false).joined(separator: other)
    }
}

/// ZIP archives of uncompressed files.
private enum ZipFile {
    static func stored(_ files: [(name: String, data: [UInt8])]) -> [UInt8] {
        func bytes(_ values: (UInt32, Int)...) -> [UInt8] {
            values.flatMap { value in (0..<value.1).map { UInt8(truncatingIfNeeded: value.0 >> UInt32(8 * $0)) } }
        }
        var archive: [UInt8] = []
        var directory: [UInt8] = []
        for (name, data) in files {
            let size = UInt32(data.count)
            let common = bytes(
                (20, 2), (0, 2), (0, 2), (0, 4), (PlainCRC32.value(data), 4), (size, 4), (size, 4), (UInt32(name.utf8.count), 2), (0, 2))
            directory +=
                bytes((0x0201_4B50, 4), (20, 2)) + common + bytes((0, 2), (0, 2), (0, 2), (0, 4), (UInt32(archive.count), 4)) + name.utf8
            archive += bytes((0x0403_4B50, 4)) + common + name.utf8 + data
        }
        let count = UInt32(files.count)
        return archive + directory
            + bytes(
                (0x0605_4B50, 4), (0, 2), (0, 2), (count, 2), (count, 2), (UInt32(directory.count), 4), (UInt32(archive.count), 4), (0, 2))
    }
}
