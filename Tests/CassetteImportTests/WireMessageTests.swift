import CassetteExport
import CassetteModel
import CassetteStore
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

/// Readers of formats that store messages as they were on the wire.
@Suite struct WireMessageTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private static let request = "POST http://a.test/p?x=1 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\na=b"
    private static let answer = "HTTP/1.1 200 Fine\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi"
    private static let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n5;x=y\r\nhello\r\n0006\r\n world\r\n0;z\r\nT: 1\r\n\r\n"

    private func run(_ text: String, as name: String, _ kind: ImportKind) throws -> (report: ImportReport, interactions: [Interaction]) {
        let found = try self.importing.run(text, as: name)
        #expect(found.report.sources.map(\.kind) == [kind])
        return found
    }

    private func text(_ body: Body?) throws -> String { String(decoding: try self.importing.bytes(body), as: UTF8.self) }

    private func losses(_ report: ImportReport) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
    }

    // MARK: Messages without a container

    @Test func messagesAreReadOneAfterAnother() throws {
        let get = "GET /q HTTP/1.1\nHost: b.test:81\n\n"
        let exchanges = try self.run("\(Self.request)\r\n\(Self.answer)\r\n\(get)\(Self.chunked)\r\n", as: "m.http", .raw).interactions
        #expect(exchanges.map(\.request.url) == ["http://a.test/p?x=1", "http://b.test:81/q"])
        #expect(try self.text(exchanges[0].request.body) == "a=b" && self.text(exchanges[0].response?.body) == "hi")
        #expect(exchanges[0].response?.reason == Array("Fine".utf8) && exchanges[0].response?.status == 200)
        #expect(try self.text(exchanges[1].response?.body) == "hello world")
        let arrival = exchanges[1].response?.body?.arrival
        #expect(arrival?.isChunked == true && arrival?.pieces.map(\.line) == ["5;x=y", "0006"] && arrival?.lastLine == "0;z")
        #expect(exchanges[1].response?.trailers?.lines == ["T: 1"])
    }

    private static let socket =
        "GET http://a.test/ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
        + "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

    @Test(arguments: [("\u{1}\u{2}hi", 1), ("\u{1}\u{2}hi\r\n", 1), ("", nil), ("\r\n", nil), ("\u{1}\n\u{2}\n", 1)])
    func messagesOfAWebSocketDoNotStopTheOthers(_ frames: String, _ count: Int?) throws {
        let more = frames.isEmpty || frames.hasSuffix("\n") ? "\(Self.request)\(Self.answer)" : ""
        let (report, exchanges) = try self.run("\(Self.socket)\(frames)\(more)", as: "m", .raw)
        #expect(exchanges.map { $0.response?.status } == (more.isEmpty ? [101] : [101, 200]))
        #expect(self.losses(report)["unknownPart"] == count)
    }

    @Test func messagesOfAWebSocketThatHideAnotherMessageAreAnError() throws {
        let message = try self.importing.failure("\(Self.socket)\u{1}\u{2}hi\(Self.request)\(Self.answer)", as: "m")
        #expect(message.contains("messages of a WebSocket are followed by other messages"), "\(message)")
    }

    @Test func anAnswerWithoutALengthIsTheRest() throws {
        let open = "HTTP/1.1 200 OK\r\n\r\nall of it"
        #expect(
            try self.text(self.run("GET http://a.test/ HTTP/1.1\r\n\r\n\(open)", as: "m", .raw).interactions[0].response?.body)
                == "all of it")
        let message = try Importing().failure(
            "GET http://a.test/ HTTP/1.1\r\n\r\n\(open)\r\nGET http://a.test/ HTTP/1.1\r\n\r\n\(Self.answer)", as: "m")
        #expect(message.contains("without a length"))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", "hi"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", "hello"),
    ]) func aBodyThatEndsEarlyIsCut(_ answer: String, _ body: String) throws {
        let exchange = try self.run("GET http://a.test/ HTTP/1.1\r\n\r\n\(answer)", as: "m", .raw).interactions[0]
        #expect(exchange.response?.body?.isComplete == false && exchange.outcome != .complete)
        #expect(try self.text(exchange.response?.body) == body)
    }

    @Test func interimAnswersAndEmptyOnesAreRead() throws {
        let text =
            "HEAD http://a.test/ HTTP/1.1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        let exchange = try self.run(text, as: "m", .raw).interactions[0]
        #expect(exchange.interim.map(\.status) == [103] && exchange.response?.body == nil && exchange.outcome == .complete)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc",
        // As long as it and the next exchange.
        "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nabc\n",
    ]) func aCutBodyDoesNotTakeTheNextMessages(_ cut: String) throws {
        let get = "GET http://a.test/1 HTTP/1.1\r\nHost: a.test\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        #expect(4 + get.utf8.count + answer.utf8.count == 90)
        let message = try self.importing.failure(get + cut + get + answer + get + answer, as: "m")
        #expect(message.contains("first line of another message"), "\(message)")
    }

    @Test func aCutRequestDoesNotTakeItsAnswer() throws {
        let text = "POST http://a.test/1 HTTP/1.1\r\nContent-Length: 1000\r\n\r\nabc\r\n\(Self.answer)"
        #expect(try self.importing.failure(text, as: "m").contains("first line of another message"))
    }

    @Test func aBodyThatIsAMessageIsRead() throws {
        let inner = "GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: message/http\r\nContent-Length: \(inner.utf8.count)\r\n\r\n\(inner)"
        let page = "<pre>\nGET /1 HTTP/1.1\n\n</pre>"
        let other = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"
        let exchanges = try self.run("\(Self.request)\(answer)\(Self.request)\(other)", as: "m", .raw).interactions
        #expect(try exchanges.map { try self.text($0.response?.body) } == [inner, page])
    }

    @Test(arguments: ["Content-Length: 9", "Transfer-Encoding: chunked", "X: y"]) func cutMessagesOfOurExportAreReadAgain(
        _ field: String
    ) throws {
        var cut = Interaction.sample(
            1, at: 1, "POST", "http://a.test/1", body: Body(size: 3, isComplete: false, content: .text(Array("abc".utf8))))
        cut.request.headers = HeaderFields(["Host: a.test", "Content-Length: 99"])
        cut.request.body = Body(size: 2, isComplete: false, content: .text(Array("xy".utf8)))
        cut.response?.headers = HeaderFields([field])
        cut.outcome = .cut(Cut(by: .origin, reason: "x"))
        var next = Interaction.sample(2, at: 2, "GET", "http://a.test/2", body: Body(size: 2, content: .text(Array("hi".utf8))))
        next.request.headers = HeaderFields(["Host: a.test"])
        next.response?.headers = HeaderFields(["Content-Length: 2"])
        let path = self.importing.folder.file("cut.json")
        try RecordedExchanges.write([cut, next], to: path)
        var text: [UInt8] = []
        var writer = RawMessages(ExportTarget(path: path) { text += $0 }, .both)
        try writer.begin()
        for (index, interaction) in [cut, next].enumerated() { try writer.append(interaction, number: index + 1) }
        try writer.end()
        let exchanges = try self.importing.run(bytes: text, as: "m").interactions
        #expect(exchanges.map(\.request.url) == ["http://a.test/1", "http://a.test/2"])
        #expect(exchanges.map { $0.response?.body?.isComplete } == [false, true] && exchanges[0].request.body?.isComplete == false)
        #expect(try exchanges.map { try self.text($0.response?.body) } == ["abc", "hi"])
        #expect(exchanges[0].response?.headers.lines == [field] && exchanges[0].outcome != .complete)
    }

    @Test func anArchiveOfAnswersAloneIsAnError() throws {
        let block = "HTTP/1.1 200 OK\r\n\r\nhi"
        let record =
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:b>\r\nWARC-Target-URI: http://a.test/1\r\n"
            + "Content-Type: application/http\r\nContent-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
        #expect(try self.importing.failure(record, as: "a.warc").contains("answers without their requests"))
    }

    // MARK: httprr

    @Test func tracesOfHttprrAreRead() throws {
        func record(_ request: String, _ answer: String) -> String { "\(request.utf8.count) \(answer.utf8.count)\n\(request)\(answer)" }
        let open = "HTTP/2.0 200 OK\r\nContent-Type: text/plain\r\n\r\nrest"
        let text =
            "httprr trace v1\n\(record(Self.request, Self.answer))\(record("GET https://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n", open))"
        let exchanges = try self.run(text, as: "t.httprr", .httprr).interactions
        #expect(exchanges.map(\.request.url) == ["http://a.test/p?x=1", "https://b.test/"])
        #expect(try exchanges.map { try self.text($0.response?.body) } == ["hi", "rest"])
        #expect(exchanges[1].response?.version == .http2)
        #expect(try Importing().failure(String(text.dropLast(2)), as: "t").contains("ends within an exchange"))
    }

    // MARK: Burp

    @Test func itemsOfBurpAreRead() throws {
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let text = """
            <?xml version="1.0"?>
            <!DOCTYPE items [
            <!ELEMENT items (item*)>
            <!ENTITY a "aaaa">
            ]>
            <items burpVersion="2024.1" exportTime="Sat Nov 28 00:00:00 UTC 2026">
              <item>
                <time>Sat Nov 28 04:19:28 UTC 2026</time>
                <url><![CDATA[https://a.test:8443/x?y=<item>]]></url>
                <host ip="127.0.0.1">a.test</host><port>8443</port><protocol>https</protocol>
                <method><![CDATA[GET]]></method>
                <request base64="true"><![CDATA[\(base64("GET /x?y=<item> HTTP/2\r\nHost: a.test:8443\r\n\r\n"))]]></request>
                <status>200</status><responselength>3</responselength>
                <response base64="true"><![CDATA[\(base64(Self.chunked))]]></response>
              </item>
              <item>
                <url><![CDATA[http://a.test/none]]></url><host>a.test</host><port>80</port><protocol>http</protocol>
                <request base64="false"><![CDATA[GET /none HTTP/1.1
            Host: a.test

            ]]></request>
                <response></response>
              </item>
            </items>
            """
        let exchanges = try self.run(text, as: "b.xml", .burp).interactions
        #expect(exchanges.map(\.request.url) == ["https://a.test:8443/x?y=<item>", "http://a.test/none"])
        #expect(exchanges[0].request.version == .http2 && exchanges[0].started == Timestamp("2026-11-28T04:19:28Z"))
        #expect(try self.text(exchanges[0].response?.body) == "hello world")
        #expect(exchanges[1].response == nil)
    }

    /// Burp writes a byte as the character of its number. A text in UTF-8 has another length.
    @Test(arguments: [(3, [0xE9, 0xFF, 0x80]), (6, Array("\u{e9}\u{ff}\u{80}".utf8))] as [(Int, [UInt8])])
    func bytesOfBurpThatAreCharactersAreBytes(_ length: Int, _ body: [UInt8]) throws {
        let text = """
            <?xml version="1.0"?><items burpVersion="1"><item><url>http://a.test/</url><host>a.test</host><port>80</port><protocol>http</protocol>
            <request base64="false"><![CDATA[GET / HTTP/1.1\r\nHost: a.test\r\n\r\n]]></request>
            <response base64="false"><![CDATA[HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(length)\r\n\r\n\u{e9}\u{ff}\u{80}]]></response></item></items>
            """
        let (report, exchanges) = try self.run(text, as: "b.xml", .burp)
        #expect(try self.importing.bytes(exchanges[0].response?.body) == body)
        #expect(!report.losses.contains { $0.kind == "length" })
    }

    // MARK: WARC

    private static func record(_ type: String, _ id: String, concurrent: String? = nil, _ block: String, more: String = "") -> String {
        let other = concurrent.map { "WARC-Concurrent-To: <urn:\($0)>\r\n" } ?? ""
        let kind = ["request", "response", "revisit"].contains(type) ? "application/http; msgtype=\(type)" : "application/warc-fields"
        return
            "WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:\(id)>\r\nWARC-Target-URI: https://a.test/p?x=1\r\nWARC-Date: 2026-11-21T04:19:28Z\r\n"
            + "\(other)\(more)Content-Type: \(kind)\r\nContent-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
    }

    private static let sent = "POST /p?x=1 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\na=b"

    /// The response comes first, as warcio writes it, or last.
    @Test(arguments: [true, false], [true, false]) func recordsOfAnArchiveArePaired(_ isAnswerFirst: Bool, _ areNamed: Bool) throws {
        let request = Self.record("request", "1", concurrent: areNamed ? "2" : nil, Self.sent)
        let answer = Self.record("response", "2", Self.chunked)
        let text = Self.record("warcinfo", "0", "software: x\r\n") + (isAnswerFirst ? answer + request : request + answer)
        let (report, exchanges) = try self.run(text, as: "a.warc", .warc)
        #expect(exchanges.map(\.request.url) == ["https://a.test/p?x=1"] && exchanges[0].started == Timestamp("2026-11-21T04:19:28Z"))
        #expect(try self.text(exchanges[0].request.body) == "a=b" && self.text(exchanges[0].response?.body) == "hello world")
        #expect(exchanges[0].response?.body?.arrival?.pieces.map(\.line) == ["5;x=y", "0006"])
        #expect(self.losses(report) == ["timing": 1])
    }

    @Test func recordsOutsideOfExchangesAreReported() throws {
        let lone = Self.record("response", "9", concurrent: "8", Self.answer)
        let revisit =
            Self.record("request", "3", Self.sent)
            + Self.record("revisit", "4", concurrent: "3", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        let cut =
            Self.record("request", "5", Self.sent)
            + Self.record("response", "6", concurrent: "5", Self.answer, more: "WARC-Truncated: length\r\n")
        let (report, exchanges) = try self.run(lone + revisit + cut + Self.record("resource", "7", "x"), as: "a.warc", .warc)
        #expect(exchanges.count == 2 && exchanges.allSatisfy { $0.response?.body?.isComplete == false && $0.outcome != .complete })
        let losses = self.losses(report)
        #expect(losses["unanswered"] == 1 && losses["notHTTP"] == 1 && losses["responseBody"] == 2)
        #expect(try Importing().failure(String(lone.dropLast(10)), as: "a.warc").contains("ends within a record"))
    }

    @Test func anExportedArchiveIsReadAgain() throws {
        let cut = "GET http://a.test/cut HTTP/1.1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"
        let first = try self.run("\(Self.request)\r\n\(Self.chunked)\r\n\(cut)", as: "m.http", .raw).interactions
        var archive: [UInt8] = []
        var writer = WARCRecords(ExportTarget(path: self.importing.cassette) { archive += $0 })
        try writer.begin()
        for (index, interaction) in first.enumerated() { try writer.append(interaction, number: index + 1) }
        try writer.end()
        let again = try Importing()
        let (report, second) = try again.run(bytes: archive, as: "a.warc")
        #expect(report.sources[0].kind == .warc && second.map(\.request.url) == first.map(\.request.url))
        #expect(second[0].response?.body?.arrival == first[0].response?.body?.arrival && second[0].response?.trailers?.lines == ["T: 1"])
        #expect(
            try again.bytes(second[0].request.body) == Array("a=b".utf8)
                && again.bytes(second[0].response?.body) == Array("hello world".utf8))
        #expect(second[1].response?.body?.isComplete == false && second.map(\.started) == first.map(\.started))
    }

    // MARK: Fiddler

    @Test func sessionsOfFiddlerAreRead() throws {
        let zip = try Self.zip([
            "[Content_Types].xml": "<x/>", "raw/02_c.txt": "GET http://a.test/late HTTP/1.1\r\n\r\n", "raw/02_s.txt": "",
            "raw/01_c.txt": Self.request, "raw/01_s.txt": Self.chunked,
            "raw/01_m.xml":
                #"<Session><SessionTimers ClientBeginRequest="2026-11-21T04:19:28.5+00:00" ServerDoneResponse="2026-11-21T04:19:28.75+00:00"/></Session>"#,
            "raw/3_c.txt": "CONNECT a.test:443 HTTP/1.1\r\n\r\n", "raw/3_s.txt": "HTTP/1.1 200 OK\r\n\r\n",
        ])
        let (report, exchanges) = try self.importing.run(bytes: zip, as: "s.saz")
        #expect(report.sources[0].kind == .fiddler && exchanges.map(\.request.url) == ["http://a.test/p?x=1", "http://a.test/late"])
        #expect(exchanges[0].timing.total == 250 && exchanges[0].response?.body?.arrival?.pieces.count == 2)
        #expect(exchanges[1].response == nil && self.losses(report)["notHTTP"] == 1)
    }

    /// Stored without compression.
    private static func zip(_ files: [String: String]) throws -> [UInt8] {
        func little(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for (name, text) in files.sorted(by: { $0.key < $1.key }) {
            let (name, data) = (Array(name.utf8), Array(text.utf8))
            let common =
                little(20, 2) + little(0, 8) + little(Int(PlainCRC32.value(data)), 4) + little(data.count, 4) + little(data.count, 4)
                + little(name.count, 2) + little(0, 2)
            directory += [0x50, 0x4B, 1, 2, 20, 0] + common + little(0, 10) + little(bytes.count, 4) + name
            bytes += [0x50, 0x4B, 3, 4] + common + name + data
        }
        let start = bytes.count
        return bytes + directory + [0x50, 0x4B, 5, 6] + little(0, 4) + little(files.count, 2) + little(files.count, 2)
            + little(directory.count, 4) + little(start, 4) + little(0, 2)
    }
}
