import CassetteFormat
import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing

@testable import CassettePlayback

@Suite struct AnswerEchoTests {
    private struct Sent {
        var url = "http://h/"
        var headers: [String] = []
        var body: String?
    }

    private struct Answer {
        var headers: [String] = []
        var body: Body?

        init(_ headers: [String] = [], _ text: String? = nil) {
            self.headers = headers
            self.body = text.map { Body(size: $0.utf8.count, content: .text(Array($0.utf8))) }
        }
    }

    private static let json = "Content-Type: application/json"

    /// The answer to a live request, replayed from an exchange with a recorded one.
    private func answer(
        to live: Sent, recorded: Sent, _ answer: Answer, _ rules: MatchRules = .standard
    ) throws -> (headers: [String], body: String?) {
        let method = recorded.body == nil ? "GET" : "POST"
        let interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 1_795_248_000_000_000),
            request: RecordedRequest(
                method: method, url: recorded.url, headers: HeaderFields(recorded.headers), body: Answer([], recorded.body).body),
            response: RecordedResponse(status: 200, headers: HeaderFields(answer.headers), body: answer.body))
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let appender = try CassetteAppender.create(path, recorder: "wiretape test")
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        try appender.append([writer.bytes])
        _ = try appender.finish()
        let cassette = try RecordedCassette(path: path)
        let session = try CassetteSession(mode: .none, cassette: cassette, rules: rules)
        let opening = session.begin(method: method, url: live.url, headers: HeaderFields(live.headers), hasBody: live.body != nil)
        let decision: Decision
        switch opening {
        case .decided(let decided): decision = decided
        case .needsBody(let pending):
            var body = pending.body()
            Array((live.body ?? "").utf8).withUnsafeBytes { body.push($0) }
            decision = try session.resolve(pending, body: body.finish())
        }
        guard case .replay(let index, let form) = decision else {
            Issue.record("not replayed: \(decision)")
            return ([], nil)
        }
        let replayed = try ComputedAnswer.interaction(
            at: index, form: form, of: cassette, bodies: BodyReader(cassettePath: path), digest: { PortableSHA256() })
        let response = try #require(replayed.response)
        let fields = response.headers
        #expect(response.body?.arrival.map { $0.pieces.reduce(0) { $0 + $1.size } } ?? response.body?.size == response.body?.size)
        return (
            (0..<fields.count).map { String(decoding: fields.line(at: $0), as: UTF8.self) },
            response.body?.content.inlineBytes.map { String(decoding: $0, as: UTF8.self) }
        )
    }

    @Test func idsInFieldsComeBack() throws {
        for name in ["X-Request-Id", "Idempotency-Key", "X-Correlation-ID", "x-ms-client-request-id"] {
            let answer = try self.answer(
                to: Sent(headers: ["\(name): live"]), recorded: Sent(headers: ["\(name): recorded"]),
                Answer(["\(name): recorded", "X-Other-Id: recorded", "Content-Length: 0"]))
            #expect(answer.headers == ["\(name): live", "X-Other-Id: recorded", "Content-Length: 0"])
        }
    }

    /// A page that a development server serves on another port.
    @Test func theOriginOfThePageComesBack() throws {
        func answer(_ allowed: String) throws -> [String] {
            try self.answer(
                to: Sent(headers: ["Origin: http://b.test"]), recorded: Sent(headers: ["Origin: http://a.test"]),
                Answer(["Access-Control-Allow-Origin: \(allowed)", "X-Origin: http://a.test"], "http://a.test")
            ).headers
        }
        #expect(try answer("http://a.test") == ["Access-Control-Allow-Origin: http://b.test", "X-Origin: http://a.test"])
        // The server refuses a.test, or accepts every origin, so it does the same for b.test.
        for other in ["*", "http://c.test", "null"] { #expect(try answer(other).first == "Access-Control-Allow-Origin: \(other)") }
    }

    @Test func idsOfTheServerStay() throws {
        let answer = try self.answer(
            to: Sent(headers: ["X-Request-Id: live"]), recorded: Sent(headers: ["X-Request-Id: recorded"]),
            Answer(["X-Request-Id: of the server"]))
        #expect(answer.headers == ["X-Request-Id: of the server"])
        let unasked = try self.answer(to: Sent(headers: ["X-Request-Id: live"]), recorded: Sent(), Answer(["X-Request-Id: of the server"]))
        #expect(unasked.headers == ["X-Request-Id: of the server"])
    }

    @Test func fieldsThatDescribeAMessageStay() throws {
        let rules = try MatchRules(ignore: ["header:date", "header:cache-control", "header:x-nonce"])
        let answer = try self.answer(
            to: Sent(headers: ["Date: b", "Cache-Control: b", "X-Nonce: b", "X-Plain: b"]),
            recorded: Sent(headers: ["Date: a", "Cache-Control: a", "X-Nonce: a", "X-Plain: a"]),
            Answer(["Date: a", "Cache-Control: a", "X-Nonce: a", "X-Plain: a"]), rules)
        #expect(answer.headers == ["Date: a", "Cache-Control: a", "X-Nonce: b", "X-Plain: a"])
    }

    @Test func idsOfCallsComeBackAtTheirPlaces() throws {
        let rules = try MatchRules(ignore: ["json:/id", "json:/*/id"])
        let one = try self.answer(
            to: Sent(headers: [Self.json], body: #"{"jsonrpc":"2.0","id":"0123456789abcdef","method":"add"}"#),
            recorded: Sent(headers: [Self.json], body: #"{"jsonrpc":"2.0","id":7,"method":"add"}"#),
            Answer([Self.json, "Content-Length: 35"], #"{"jsonrpc":"2.0","id":7,"result":7}"#), rules)
        #expect(one.body == #"{"jsonrpc":"2.0","id":"0123456789abcdef","result":7}"#)
        #expect(one.headers == [Self.json, "Content-Length: 52"])
        let batch = try self.answer(
            to: Sent(headers: [Self.json], body: #"[{"id":"x","method":"a"},{"id":"y","method":"b"}]"#),
            recorded: Sent(headers: [Self.json], body: #"[{"id":1,"method":"a"},{"id":2,"method":"b"}]"#),
            Answer([Self.json], #"[{"id":2,"result":1},{"id":1,"result":2}]"#), rules)
        #expect(batch.body == #"[{"id":"y","result":1},{"id":"x","result":2}]"#)
    }

    @Test func idsInStreamsAndLinesComeBack() throws {
        let rules = try MatchRules(ignore: ["json:/id"])
        for (type, recorded, replayed) in [
            (
                "text/event-stream", "event: message\ndata: {\"id\":1,\"result\":1}\n\n",
                "event: message\ndata: {\"id\":\"live\",\"result\":1}\n\n"
            ),
            ("application/x-ndjson", "{\"id\":1}\n{\"id\":2}\n", "{\"id\":\"live\"}\n{\"id\":2}\n"),
            ("text/html", "<p>\"id\":1</p>", "<p>\"id\":1</p>"),
        ] {
            let answer = try self.answer(
                to: Sent(headers: [Self.json], body: #"{"id":"live"}"#), recorded: Sent(headers: [Self.json], body: #"{"id":1}"#),
                Answer(["Content-Type: \(type)"], recorded), rules)
            #expect(answer.body == replayed)
        }
    }

    /// A client of MCP finds the call of a notification by the token, and the stream of a subscription by the id of the call.
    @Test func whatStreamsOfMCPRepeatComesBack() throws {
        let rules = try MatchRules(RulePreset.mcp.rules)
        func replayed(_ method: String, _ events: String) throws -> String? {
            func call(_ id: Int) -> Sent {
                Sent(
                    headers: [Self.json],
                    body: #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{"_meta":{"progressToken":\#(id)}}}"#)
            }
            return try self.answer(to: call(503), recorded: call(3), Answer(["Content-Type: text/event-stream"], events), rules).body
        }
        let progress = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3}}\n\n"
        let cancelled = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}}\n\n"
        let answer = "data: {\"jsonrpc\":\"2.0\",\"result\":3,\"id\":3}\n\n"
        #expect(
            try replayed("tools/call", progress + cancelled + answer)
                == progress.replacing(":3", with: ":503") + cancelled + answer.replacing("\"id\":3", with: "\"id\":503"))
        #expect(try replayed("subscriptions/listen", cancelled) == cancelled.replacing(":3", with: ":503"))
    }

    @Test func aLongIdOfAFieldComesBackInTheBody() throws {
        let (old, new) = ("6f1c1c52-9d2e-4a4e-8f4c-1f0a5b2f0c11", "00000000-9d2e-4a4e-8f4c-1f0a5b2f0c22")
        let answer = try self.answer(
            to: Sent(headers: ["X-Request-Id: \(new)"]), recorded: Sent(headers: ["X-Request-Id: \(old)"]),
            Answer([Self.json], "{\"error\":{\"request_id\":\"\(old)\"},\"text\":\"of \(old)\"}"))
        #expect(answer.body == "{\"error\":{\"request_id\":\"\(new)\"},\"text\":\"of \(old)\"}")
        let short = try self.answer(
            to: Sent(headers: ["X-Request-Id: 2"]), recorded: Sent(headers: ["X-Request-Id: 1"]), Answer([Self.json], #"{"a":"1"}"#))
        #expect(short.body == #"{"a":"1"}"#)
    }

    @Test func checksumsAndPiecesFitTheAnswer() throws {
        var answer = Answer(["Content-Type: application/x-ndjson", "X-Checksum-CRC32: 00000000"], #"{"id":1}"# + "\n" + #"{"x":1}"#)
        answer.body?.arrival = Arrival(isChunked: true, pieces: [Arrival.Piece(at: 0, size: 9), Arrival.Piece(at: 50, size: 7)])
        let rules = try MatchRules(ignore: ["json:/id"])
        let replayed = try self.answer(
            to: Sent(headers: [Self.json], body: #"{"id":12345}"#), recorded: Sent(headers: [Self.json], body: #"{"id":1}"#), answer, rules)
        #expect(replayed.body == "{\"id\":12345}\n{\"x\":1}")
        // A checksum that did not match stays unchanged.
        #expect(replayed.headers[1] == "X-Checksum-CRC32: 00000000")
    }

    @Test func valuesThatRulesCompareStay() throws {
        let answer = try self.answer(
            to: Sent(headers: [Self.json], body: #"{"id":1}"#), recorded: Sent(headers: [Self.json], body: #"{"id":1}"#),
            Answer([Self.json], #"{"id":1}"#), try MatchRules(ignore: ["json:/other"]))
        #expect(answer.body == #"{"id":1}"#)
    }

    // MARK: Items of queries and forms

    private static let (oldState, newState) = ("st8AAAAbbbbCCCCdddd11", "st8EEEEffffGGGGhhhh22")

    /// RFC 6749, 4.1.2 and 4.2.2. A client refuses an answer without its own state.
    @Test(arguments: ["?code=1&state=STATE", "#access_token=1&state=STATE", "?state=STATE", "?a=b#state=STATE&x=y"])
    func aStateComesBackInARedirection(form: String) throws {
        let rules = try MatchRules(ignore: ["query:state", "form:state"])
        func location(_ state: String) -> String { "Location: http://c.test/cb" + form.replacing("STATE", with: state) }
        for (old, new) in [(Self.oldState, Self.newState), ("1", "2"), ("a/b=", "c+d%3D")] {
            let recorded = old.replacing("=", with: "%3D").replacing("/", with: "%2F")
            let expected = ["c+d%3D": "c%20d%3D"][new] ?? new
            let inQuery = try self.answer(
                to: Sent(url: "http://h/auth?state=\(new)&x=1"), recorded: Sent(url: "http://h/auth?x=1&state=\(recorded)"),
                Answer([location(recorded), "X-State: \(recorded)"]), rules)
            #expect(inQuery.headers == [location(expected), "X-State: \(recorded)"])
            let type = "Content-Type: application/x-www-form-urlencoded"
            let inForm = try self.answer(
                to: Sent(headers: [type], body: "x=1&state=\(new)"), recorded: Sent(headers: [type], body: "state=\(recorded)&x=1"),
                Answer([location(recorded)]), rules)
            #expect(inForm.headers == [location(expected)])
        }
    }

    @Test func itemsThatAreComparedOrThatTheServerMadeStay() throws {
        let rules = try MatchRules(ignore: ["query:state"])
        let answer = try self.answer(
            to: Sent(url: "http://h/?state=b"), recorded: Sent(url: "http://h/?state=a"),
            Answer(["Location: http://c.test/a?state=c&estate=a&x=a", "Link: </p?state=a>; rel=next; title=\"state=a\""]), rules)
        #expect(
            answer.headers == ["Location: http://c.test/a?state=c&estate=a&x=a", "Link: </p?state=b>; rel=next; title=\"state=a\""])
    }

    /// The name may be anything that a page chooses, and the page waits for a call of its own.
    @Test(arguments: [
        "NAME({\"a\":1});", "/**/NAME({\"NAME\":1})", "/**/ typeof NAME === 'function' && NAME({\"a\":1});", "NAME && NAME(1)",
        "<script>parent.NAME(1)</script>",
    ])
    func theFunctionOfJSONPIsTheClients(text: String) throws {
        let rules = try MatchRules(ignore: ["query:callback"], patterns: ["query:cb=[a-z0-9.]+"])
        func expected(_ name: String) -> String { text.replacing("{\"NAME\"", with: "{\"old1\"").replacing("NAME", with: name) }
        for item in ["callback", "cb"] {
            let answer = try self.answer(
                to: Sent(url: "http://h/?\(item)=app.new22"), recorded: Sent(url: "http://h/?\(item)=old1"),
                Answer(["Content-Type: text/javascript", "Content-Length: \(expected("old1").utf8.count)"], expected("old1")), rules)
            #expect(answer.body == expected("app.new22"))
            #expect(answer.headers.last == "Content-Length: \(expected("app.new22").utf8.count)")
        }
    }

    @Test func aTextThatDoesNotCallTheFunctionStays() throws {
        let rules = try MatchRules(ignore: ["query:callback"])
        for text in ["old", "older(1)", "xold(1)", "{\"old\": 1}", "fold(old)"] {
            let answer = try self.answer(
                to: Sent(url: "http://h/?callback=new"), recorded: Sent(url: "http://h/?callback=old"), Answer([], text), rules)
            #expect(answer.body == text)
        }
    }

    /// OAuth 2.0 Form Post Response Mode, and applications that get their redirection in JSON.
    @Test(arguments: [
        "<input name=\"state\" value=\"STATE\">", "{\"next\": \"http://c.test/cb?code=1&state=STATE\"}", "{\"state\":\"STATE\"}",
    ])
    func aLongStateComesBackInABody(text: String) throws {
        let rules = try MatchRules(ignore: ["query:state"])
        let answer = try self.answer(
            to: Sent(url: "http://h/?state=\(Self.newState)"), recorded: Sent(url: "http://h/?state=\(Self.oldState)"),
            Answer(["Content-Type: text/html"], text.replacing("STATE", with: Self.oldState)), rules)
        #expect(answer.body == text.replacing("STATE", with: Self.newState))
        let other = text.replacing("STATE", with: Self.oldState + "3")
        let unchanged = try self.answer(
            to: Sent(url: "http://h/?state=\(Self.newState)"), recorded: Sent(url: "http://h/?state=\(Self.oldState)"),
            Answer(["Content-Type: text/html"], other), rules)
        #expect(unchanged.body == other)
    }

    // MARK: Elements in another order

    /// The answer to a call must not go to another call.
    @Test func idsInSortedArraysAreThoseOfTheSameElements() throws {
        let rules = try MatchRules(ignore: ["json:/[jsonrpc=2.0]/id"], sort: ["json:"])
        func call(_ id: Int, _ method: String) -> String { #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"}"# }
        func result(_ id: Int, _ result: String) -> String { #"{"jsonrpc":"2.0","id":\#(id),"result":"\#(result)"}"# }
        let recorded = "[\(call(1, "a")),\(call(2, "b")),\(call(3, "a"))]"
        for (a, b, c) in [(1, 2, 3), (2, 1, 3), (7, 8, 9)] {
            let answer = try self.answer(
                to: Sent(headers: [Self.json], body: "[\(call(b, "b")),\(call(a, "a")),\(call(c, "a"))]"),
                recorded: Sent(headers: [Self.json], body: recorded),
                Answer([Self.json], "[\(result(3, "A")),\(result(1, "A")),\(result(2, "B"))]"), rules)
            #expect(answer.body == "[\(result(c, "A")),\(result(a, "A")),\(result(b, "B"))]")
        }
    }

    @Test func idsOfOneMemberInASortedArrayComeBack() throws {
        let rules = try MatchRules(ignore: ["json:/ops/*/opId"], sort: ["json:/ops"])
        let answer = try self.answer(
            to: Sent(headers: [Self.json], body: #"{"ops":[{"opId":"y1","n":2},{"opId":"x1","n":1}]}"#),
            recorded: Sent(headers: [Self.json], body: #"{"ops":[{"opId":"a1","n":1},{"opId":"b1","n":2}]}"#),
            Answer([Self.json], #"{"ops":[{"opId":"a1","r":1},{"opId":"b1","r":2}]}"#), rules)
        #expect(answer.body == #"{"ops":[{"opId":"x1","r":1},{"opId":"y1","r":2}]}"#)
    }

    // MARK: Values that are no ids

    /// The answer has the value by chance, and its meaning is that of the recorded request.
    @Test(arguments: [
        ("cursor", "null", #""abcdefgh""#), ("dry", "true", "false"), ("page", "1", "5"), ("sort", #""asc""#, #""desc""#),
    ])
    func shortValuesThatAreNoIdsStay(name: String, recorded: String, live: String) throws {
        let rules = try MatchRules(ignore: ["json:/\(name)"])
        let body = #"{"\#(name)":\#(recorded),"items":[]}"#
        let answer = try self.answer(
            to: Sent(headers: [Self.json], body: #"{"\#(name)":\#(live)}"#),
            recorded: Sent(headers: [Self.json], body: #"{"\#(name)":\#(recorded)}"#), Answer([Self.json], body), rules)
        #expect(answer.body == body)
    }
}
