import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

/// Cassettes of the VCR family, in the format of each tool.
@Suite struct InteractionListReaderTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private static let vcrpy = """
        interactions:
        - request:
            body: '{"name": "Miso"}'
            headers: &id001
              Accept: ['*/*']
              Content-Length: ['16']
              Content-Type: [application/json]
            method: POST
            uri: http://a.test/pets?page=1
          response:
            body:
              string: !!binary |
                H4sIAAAAAAAAA8vIBACsKpPYAgAA
                AA==
            headers:
              Content-Encoding: [gzip]
              Set-Cookie: [a=1, b=2]
            status: {code: 201, message: Created}
        - request: {body: null, headers: *id001, method: GET, uri: 'http://a.test/plain'}
          response:
            body: {string: "line\\n\\u00fc"}
            headers:
              Content-Encoding: [gzip]
            status: {code: 200, message: OK}
        version: 1
        """

    @Test func vcrpyIsRead() throws {
        let (report, exchanges) = try self.importing.run(Self.vcrpy, as: "pets.yaml")
        #expect(report.sources[0].kind == .vcrpy)
        #expect(exchanges.map(\.request.method) == ["POST", "GET"])
        #expect(try self.importing.bytes(exchanges[0].request.body) == Array(#"{"name": "Miso"}"#.utf8))
        #expect(exchanges[0].response?.reason == Array("Created".utf8))
        #expect(exchanges[0].response?.headers.lines.count == 3)
        #expect(exchanges[0].response?.body?.content == .text(Array("hi".utf8)) && exchanges[0].response?.body?.codings.count == 1)
        #expect(exchanges[1].response?.body?.content == .text(Array("line\nü".utf8)))
        #expect(exchanges[1].response?.codedHeaders?.lines == ["Content-Encoding: gzip"])
        #expect(exchanges[0].started < exchanges[1].started)
        #expect(report.losses.map(\.kind) == ["requestBody", "codedBody", "started", "timing", "order"])
    }

    @Test func aByteOrderMarkIsNoIndentation() throws {
        let (report, exchanges) = try self.importing.run("\u{FEFF}" + Self.vcrpy, as: "pets.yaml")
        #expect(report.sources[0].kind == .vcrpy && exchanges.map(\.request.method) == ["POST", "GET"])
    }

    @Test func vcrpyBeforeItsFirstVersionHadURLsInPartsAndFieldsAsLines() throws {
        let text = #"""
            [{"request": {"body": null, "protocol": "https", "method": "GET", "headers": {"accept": "*/*"}, "host": "a.test", "path": "/ip", "port": 443},
              "response": {"status": {"message": "OK", "code": 200}, "headers": ["content-type: text/plain\r\n", "x:  y\r\n"], "body": {"string": "hi"}}}]
            """#
        let (report, exchanges) = try self.importing.run(text, as: "old.json")
        #expect(report.sources[0].kind == .vcrpy && exchanges[0].request.url == "https://a.test/ip")
        #expect(exchanges[0].response?.headers.lines == ["content-type: text/plain", "x: y"])
    }

    @Test func vcrpyBeforeItsFirstVersionWasAList() throws {
        let text = """
            - request: {body: null, headers: {}, method: GET, uri: 'http://a.test/'}
              response: {body: {string: !!python/unicode 'old'}, headers: [!!python/tuple [A, ['1', '2']]], status: {code: 200, message: OK}}
            """
        let (report, exchanges) = try self.importing.run(text, as: "old.yaml")
        #expect(report.sources[0].kind == .vcrpy && exchanges[0].response?.body?.content == .text(Array("old".utf8)))
        #expect(exchanges[0].response?.headers.lines == ["A: 1", "A: 2"])
    }

    @Test func rubysCassettesAndThoseOfBetamaxAreRead() throws {
        let yaml = """
            ---
            http_interactions:
            - request:
                method: get
                uri: http://a.test/latin
                body: {encoding: US-ASCII, string: ''}
                headers: {Accept: ["*/*"]}
              response:
                status: {code: 200, message: OK}
                headers: {Content-Type: [text/plain]}
                body: {encoding: ISO-8859-1, string: "\\u00fcber"}
                http_version: '1.1'
              recorded_at: Tue, 01 Nov 2011 04:58:44 GMT
            recorded_with: VCR 6.0.0
            """
        let vcr = try self.importing.run(yaml, as: "pets.yml")
        #expect(vcr.report.sources[0].kind == .vcr && vcr.interactions[0].request.method == "GET")
        #expect(vcr.interactions[0].started == Timestamp("2011-11-01T04:58:44Z"))
        #expect(try self.importing.bytes(vcr.interactions[0].response?.body) == [0xFC] + Array("ber".utf8))
        let json = #"""
            {"http_interactions": [{"request": {"body": {"encoding": "utf-8", "string": ""}, "headers": {}, "method": "GET", "uri": "http://a.test/"},
             "response": {"body": {"encoding": "utf-8", "base64_string": "H4sIAAAAAAAAA8vIBACsKpPYAgAAAA=="}, "headers": {"Content-Encoding": ["gzip"]},
             "status": {"code": 200, "message": "OK"}, "url": "http://a.test/"}, "recorded_at": "2013-09-28T01:25:38"}], "recorded_with": "betamax/0.9.0"}
            """#
        let other = try Importing()
        let betamax = try other.run(json, as: "pets.json")
        #expect(betamax.report.sources[0].kind == .betamax)
        #expect(betamax.interactions[0].response?.body?.content == .text(Array("hi".utf8)))
        #expect(betamax.interactions[0].started == Timestamp("2013-09-28T01:25:38Z"))
    }

    @Test func goVCRSaysHowLongItTook() throws {
        let text = """
            ---
            version: 2
            interactions:
                - id: 0
                  request:
                    proto: HTTP/1.1
                    host: a.test
                    body: ""
                    form: {}
                    headers: {}
                    url: http://a.test/
                    method: GET
                  response:
                    proto: HTTP/2.0
                    uncompressed: true
                    body: hi
                    headers: {Content-Type: [text/plain]}
                    status: 200 OK
                    code: 200
                    duration: 83.98ms
            """
        let (report, exchanges) = try self.importing.run(text, as: "pets.yaml")
        #expect(report.sources[0].kind == .goVCR)
        #expect(exchanges[0].timing == Timing(send: 0, wait: 83.98, receive: 0, total: 83.98))
        #expect(exchanges[0].response?.version == .http2 && exchanges[0].request.version == .http11)
        #expect(GoDuration.milliseconds("1m2.5s") == 62_500 && GoDuration.milliseconds("12µs") == 0.012)
        #expect(GoDuration.milliseconds("") == nil && GoDuration.milliseconds("5 apples") == nil)
    }

    @Test func aRequestThatLacksItsBodyIsCounted() throws {
        let text = """
            version: 1
            interactions:
            - request: {method: POST, uri: 'http://a.test/x', body: null, headers: {Content-Length: ['5']}}
              response: {status: {code: 200, message: OK}, headers: {}, body: {string: hi}}
            """
        let (report, exchanges) = try self.importing.run(text, as: "a.yaml")
        #expect(report.losses.contains { $0.kind == "requestBody" } && exchanges[0].request.body?.isComplete == false)
    }

    @Test func goVCRHasTrailers() throws {
        let text = #"""
            {"version": 1, "interactions": [{"request": {"url": "http://a.test/x", "method": "GET", "headers": {}, "body": "", "trailer": {}},
             "response": {"status": "200 OK", "code": 200, "proto": "HTTP/2.0", "headers": {}, "body": "ok", "trailer": {"Grpc-Status": ["0"]}}}]}
            """#
        let exchange = try self.importing.run(text, as: "a.json").interactions[0]
        #expect(exchange.response?.trailers?.lines == ["Grpc-Status: 0"] && exchange.request.trailers == nil)
    }

    @Test func cassettersBodiesSayWhatTheyAre() throws {
        let text = """
            version: 1
            interactions:
            - request: {method: POST, uri: 'http://a.test/', headers: {accept: ["*/*"]}, body: {type: binary, content: 00ff}}
              response:
                status: 200
                headers: {content-type: [application/json]}
                body:
                  type: json
                  content: {pets: [1, "two", null, true], n: 1.50}
              recorded_at: 2026-11-25T20:42:58.899912+00:00
            ws_interactions:
            - uri: ws://a.test/chat
              recorded_at: 2026-11-25T20:42:59.000000+00:00
              frames:
              - {direction: send, frame_type: text, body: hi, offset_ms: 5}
              - {direction: receive, frame_type: binary, body: "0102", offset_ms: 7.5}
            """
        let (report, exchanges) = try self.importing.run(text, as: "pets.yaml")
        #expect(report.sources[0].kind == .cassetter && exchanges.count == 2)
        #expect(try self.importing.bytes(exchanges[0].request.body) == [0, 0xFF])
        #expect(try self.importing.bytes(exchanges[0].response?.body) == Array(#"{"pets":[1,"two",null,true],"n":1.50}"#.utf8))
        guard case .inline(let messages)? = exchanges[1].webSocket else { throw TestProblem("no messages") }
        #expect(messages.map(\.at) == [5, 7.5])
        #expect(messages[1].from == .server && messages[1].content == .binary(.bytes([1, 2])))
    }

    @Test func aTagOfAProgramsObjectIsRefusedWithItsLine() throws {
        let text = "interactions:\n- request: !!python/object/apply:os.system ['true']\n  response: {}\n"
        let message = try self.importing.failure(text, as: "evil.yaml")
        #expect(message.contains("line 2") && message.contains("python/object/apply"), "\(message)")
        let ruby = try Importing().failure("http_interactions:\n- !ruby/object:Gem::Installer\n  i: x\n", as: "evil.yaml")
        #expect(ruby.contains("line 2") && ruby.contains("!ruby/object"), "\(ruby)")
    }

    @Test func aliasesOfAliasesAreRefused() throws {
        var text = "interactions:\n- a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        for (name, before) in zip("bcdefghij", "abcdefghi") {
            let list = Array(repeating: "*\(before)", count: 10).joined(separator: ", ")
            text += "  \(name): &\(name) [\(list)]\n"
        }
        let message = try self.importing.failure(text, as: "bomb.yaml")
        #expect(message.contains("aliases included"), "\(message)")
    }

    /// Each text with a part of the message that it must cause.
    @Test(arguments: [
        ("interactions: [\n", "line"),
        ("interactions:\n- request: {method: GET, uri: 5}\n  response: {}\n", "(5), the first at"),
        (
            "interactions:\n- request: {method: GET, uri: 'http://a.test/', headers: 5}\n  response: {status: {code: 200}}\n",
            "line 2, entry 1, request.headers"
        ),
        (
            "interactions:\n- request: {method: GET, uri: 'file:///etc/passwd'}\n  response: {status: {code: 200}}\n",
            "an exchange has no URL that names a host"
        ),
        ("interactions:\n- request: {method: GET, uri: 'http://a.test/'}\n  response: {status: {code: 99}}\n", "expected a status"),
        ("interactions:\n- request: *nobody\n", "has no anchor"), ("a: 1\n---\nb: 2\n", "not a recording that is known here"),
        ("interactions: 5\n", "not a recording that is known here"),
        ("interactions:\n- request: {method: GET, uri: 'http://a.test/', body: !!binary '!'}\n  response: {}\n", "not base64"),
    ])
    func aDamagedCassetteIsReportedWithItsPosition(_ text: String, _ words: String) throws {
        let message = try self.importing.failure(text, as: "in.yaml")
        #expect(message.contains(words) && message.contains("in.yaml"), "\(message)")
    }

    @Test func deepYAMLIsRefused() throws {
        let text = "interactions:\n- " + String(repeating: "[", count: 500) + String(repeating: "]", count: 500) + "\n"
        #expect(try self.importing.failure(text, as: "deep.yaml").contains("levels deep"))
    }

    private func stream(_ text: String) throws -> YAMLStream {
        let path = try self.importing.folder.write(text.utf8, to: "x.yaml")
        return try YAMLStream(
            SourceFile(path), ImportContext(file: path, losses: ImportLosses(), options: ImportOptions()), countLimit: 100,
            aliasLimit: 1 << 20)
    }

    @Test func skippedValueMayBeLongAndKeepsItsAnchors() throws {
        let stream = try self.stream("a:\n- &x [1]\n\(String(repeating: "- [0,0,0,0,0,0,0,0,0]\n", count: 100))b: *x\n")
        #expect(try stream.enterMembers())
        #expect(try stream.nextName() == "a")
        try stream.skip()
        #expect(try stream.nextName() == "b")
        #expect(try stream.value().list?.first?.int == 1)
    }

    @Test func aliasesOfOneFileHaveALimitTogether() throws {
        let text = "- &x \(String(repeating: "x", count: 8192))\n\(String(repeating: "- *x\n", count: 128))"
        let stream = try self.stream(text)
        #expect(try stream.enterList())
        for _ in 0..<128 {
            #expect(try stream.nextElement())
            try stream.skip()
        }
        #expect(try stream.nextElement())
        let failure = #expect(throws: CassetteError.self) { try stream.value() }
        #expect(failure?.code == .tooLarge && failure?.message.contains("MiB") == true)
    }

    private static func betamax(_ body: String, _ fields: String, tool: String = "betamax/0.9.0", request: String = "") -> String {
        """
        {"http_interactions": [{"request": {"body": {"encoding": "utf-8", "string": "\(request)"}, "headers": {}, "method": "GET",
         "uri": "http://a.test/x"}, "response": {"body": {"encoding": null, "string": "\(body)"}, "headers": {\(fields)},
         "status": {"code": 200, "message": "OK"}, "url": "http://a.test/x"}, "recorded_at": "2026-01-01T00:00:00"}],
         "recorded_with": "\(tool)"}
        """
    }

    /// betamax writes U+FFFD for bytes that are not text, unless it is told to keep them.
    @Test(arguments: [
        (#"\ufffdPNG\ufffd"#, #""Content-Length": ["5"], "Content-Type": ["image/png"]"#, "betamax/1", false),
        (#"\ufffdPNG\ufffd"#, #""Content-Type": ["image/png"]"#, "betamax/1", false),
        (#"\ufffdPNG\ufffd"#, #""Content-Type": ["image/png"]"#, "VCR 6", false),
        (#"f\ufffdr"#, #""Content-Type": ["text/plain"]"#, "betamax/1", false),
        (#"f\ufffdr"#, #""Content-Length": ["3"], "Content-Type": ["text/plain"]"#, "VCR 6", false),
        // The text has all bytes, or the tool writes this character only if it was sent.
        (#"f\ufffdr"#, #""Content-Length": ["5"], "Content-Type": ["text/plain"]"#, "betamax/1", true),
        (#"f\ufffdr"#, #""Content-Type": ["text/plain"]"#, "VCR 6", true),
        ("für", #""Content-Length": ["3"], "Content-Type": ["image/png"]"#, "VCR 6", true),
    ]) func replacedBytesCutAnAnswer(_ body: String, _ fields: String, _ tool: String, _ isWhole: Bool) throws {
        let (report, exchanges) = try self.importing.run(Self.betamax(body, fields, tool: tool), as: "c.json")
        #expect(report.losses.map(\.kind).contains("responseBody") == !isWhole)
        #expect(exchanges[0].response?.body?.isComplete == isWhole)
        if case .cut(let cut) = exchanges[0].outcome { #expect(!isWhole && cut.by == .origin) } else { #expect(isWhole) }
    }

    /// A client reads as many bytes as the length says, so that wrong ones would be a complete answer.
    @Test(arguments: [
        (#"PN\ufffdG\ufffdabc"#, "5", "PN"), (#"\ufffdPNG"#, "2", ""), (#"abcdef\ufffd"#, "6", ""), (#"ab\ufffd"#, "3", "ab"),
    ]) func anAnswerWithReplacedBytesKeepsOnlyThoseThatWereSent(_ body: String, _ length: String, _ kept: String) throws {
        let text = Self.betamax(body, #""Content-Length": ["\#(length)"], "Content-Type": ["text/plain"]"#)
        let exchange = try self.importing.run(text, as: "c.json").interactions[0]
        #expect(try self.importing.bytes(exchange.response?.body) == Array(kept.utf8) && exchange.response?.body?.isComplete == false)
        #expect(exchange.response?.headers.values("content-length") == [length])
    }

    @Test func replacedBytesMakeARequestBodyUnknown() throws {
        let text = Self.betamax("hi", "", request: #"f\ufffdr"#)
        let (report, exchanges) = try self.importing.run(text, as: "c.json")
        #expect(report.losses.map(\.kind).contains("requestBody"))
        #expect(exchanges[0].request.body?.isComplete == false && exchanges[0].request.body?.size == 0)
    }

    @Test func replacedBytesInAListOfInteractionsCutAnAnswer() throws {
        let text = """
            version: 1
            interactions:
            - request: {method: GET, uri: 'http://a.test/x', body: null, headers: {}}
              response: {status: {code: 200, message: OK}, headers: {Content-Type: [image/png]}, body: {string: "\\uFFFDPNG"}}
            - request: {method: HEAD, uri: 'http://a.test/x', body: null, headers: {}}
              response: {status: {code: 200, message: OK}, headers: {Content-Type: [image/png]}, body: {string: "\\uFFFDPNG"}}
            """
        let (report, exchanges) = try self.importing.run(text, as: "c.yaml")
        #expect(report.losses.first { $0.kind == "responseBody" }?.count == 1)
        #expect(exchanges[0].response?.body?.isComplete == false && exchanges[1].outcome == .complete)
    }
}
