import CassetteModel
import CassettePlayback
import NIOCore
import TapeBytes
import Testing
import TrafficRules

@testable import TapeProxy

/// Exchanges that traffic rules change, in memory, as transcripts.
@Suite struct TrafficRuleTranscriptTests {
    private static let get = "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let sentGet = "origin 1 < GET /a HTTP/1.1|Host: h||"

    private static func scene(_ rules: String, latency: Int = 0) throws -> ExchangeScene {
        let node = RuleNode(try JSONDocument(Array(rules.utf8)).root)
        let parsed = try TrafficRules([RuleList(node: node, file: "rules", folder: nil)])
        return try ExchangeScene { $0.rules = RuleEngine(parsed) }
    }

    private static func reports(_ scene: ExchangeScene) -> [String] {
        (scene.proxy.rules?.engine.report() ?? []).flatMap { RuleLines.lines(of: $0) }.map(\.text)
    }

    // MARK: Without an origin

    @Test func aBlockedRequestReachesNoOrigin() throws {
        let scene = try Self.scene(#"[{"name": "no", "block": 403}]"#)
        scene.client(Self.get)
        let heard = scene.heard()
        #expect(heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 403 ") && heard[0].contains("\"no\""))
        #expect(scene.recorder.exchanges.isEmpty)
        #expect(Self.reports(scene) == ["rule \"no\": matched 1, applied to 1."])
    }

    /// Otherwise its text would come before the next answer.
    @Test(arguments: ["\"block\": 204", "\"block\": 304", "\"fault\": {\"status\": 204}", "\"block\": 204, \"record\": true"])
    func aStatusWithoutContentComesWithoutText(rule: String) throws {
        let scene = try Self.scene("[{\"name\": \"no\", \(rule)}]")
        for _ in 0..<2 {
            scene.client(Self.get)
            let heard = scene.heard()
            #expect(heard.count == 1 && heard.allSatisfy { $0.hasSuffix("||") && !$0.contains("Content-Length") }, "\(heard)")
        }
    }

    @Test func aStatusOfAnEmptyAnswerHasALengthOfZero() throws {
        let scene = try Self.scene(#"[{"block": 205}]"#)
        scene.client(Self.get)
        #expect(scene.heard().first?.hasSuffix("|Content-Length: 0||") == true)
    }

    @Test func aBlockIsRecordedIfItsRuleSaysSo() throws {
        let scene = try Self.scene(#"[{"name": "no", "block": 403, "record": true}]"#)
        scene.client(Self.get)
        let heard = scene.heard()
        #expect(heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 403 Forbidden|Content-Type: text/plain; charset=utf-8|"))
        #expect(heard[0].contains("Wiretape-Error: blocked") && heard[0].contains("\"no\""))
        #expect(scene.recorder.exchanges.map(\.interaction.response?.status) == [403])
        #expect(scene.recorder.exchanges.map(\.interaction.modified) == [Modification(rules: ["no"])])
    }

    @Test func aBlockTakesAPlaceInALimitedRecording() throws {
        let scene = try Self.scene(#"[{"block": 403, "record": true}]"#)
        scene.proxy.session.limitRecording(to: 1)
        scene.client(Self.get + Self.get)
        #expect(scene.recorder.exchanges.count == 1)
        #expect(scene.proxy.session.verdict().unrecorded == 1)
    }

    @Test func aBlockWhoseRequestEndsEarlyLeavesItsPlace() throws {
        let scene = try Self.scene(#"[{"block": 403, "record": true}]"#)
        scene.proxy.session.limitRecording(to: 1)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        #expect(scene.recorder.exchanges.isEmpty)
        #expect(scene.proxy.session.recordsRuleAnswer(), "the place is free again")
    }

    @Test(arguments: ["\"close\"", "\"reset\""]) func aBlockCanCloseTheConnection(block: String) throws {
        let scene = try Self.scene("[{\"block\": \(block)}]")
        scene.client(Self.get)
        #expect(scene.heard() == ["client closed"])
    }

    /// A replay that rules answer alone is not one without requests.
    @Test(arguments: [
        (#""block": 403"#, 1), (#""block": "reset""#, 1), (#""respond": {"body": "hi"}"#, 1), (#""fault": {"status": 503}"#, 1),
        (#""fault": "refuse""#, 1), (#""fault": "close""#, 1), (#""fault": "reset""#, 1), (#""fault": "timeout""#, 1),
        (#""fault": {"kind": "cut", "after": "1B"}"#, 0), (#""response": {"status": 503}"#, 0), (#""pace": {"latency": "1s"}"#, 0),
    ]) func aRequestThatARuleAnswersIsCounted(rule: String, count: Int) throws {
        let scene = try Self.scene("[{\(rule)}]")
        scene.client(Self.get)
        #expect(scene.proxy.session.verdict().answeredByRules == count)
    }

    @Test func aTunnelWhoseTLSARuleBreaksIsCounted() throws {
        let tls = try TLSScene()
        let node = RuleNode(try JSONDocument(Array(#"[{"fault": "tls"}]"#.utf8)).root)
        let rules = try TrafficRules([RuleList(node: node, file: "rules", folder: nil)])
        let scene = try ExchangeScene {
            tls.configure(&$0)
            $0.rules = RuleEngine(rules)
        }
        scene.client("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n")
        #expect(scene.heard() == ["client < HTTP/1.1 200 Connection established||"])
        #expect(scene.proxy.session.verdict().answeredByRules == 1)
    }

    @Test func aRuleAnswersWithValuesOfTheRequest() throws {
        let scene = try Self.scene(#"[{"respond": {"status": 201, "json": {"id": "{{json:/id}}"}}}]"#)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n")
        #expect(scene.heard() == [])
        scene.client(#"{"id":7}"#)
        let heard = scene.heard()
        #expect(heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 201 Created|") && heard[0].hasSuffix("||{\"id\":7}"))
        #expect(scene.recorder.exchanges.isEmpty)
    }

    @Test func anAnswerOfARuleIsRecordedIfItAsksForThat() throws {
        let scene = try Self.scene(#"[{"name": "mine", "record": true, "respond": {"body": "hi"}}]"#)
        scene.client(Self.get)
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
        #expect(scene.recorder.exchanges.first?.interaction.modified == Modification(rules: ["mine"]))
    }

    @Test func aClientThatWaitsForContinueIsAskedForItsBodyOnce() throws {
        let scene = try Self.scene(#"[{"when": "~bq secret", "block": 403}]"#)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n")
        #expect(scene.heard() == ["client < HTTP/1.1 100 Continue||"])
        scene.client("secret")
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 403 ") == true)
    }

    @Test func aBodyThatNoRuleMatchesGoesOnAsItCame() throws {
        let scene = try Self.scene(#"[{"when": "~bq secret", "block": 403}]"#)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n")
        scene.client("0\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        #expect(
            scene.heard() == [
                "dial h", "origin 1 < POST /a HTTP/1.1|Host: h|Transfer-Encoding: chunked||2;x|ab|0||",
                "client < HTTP/1.1 200 OK|Content-Length: 2||ok",
            ])
        #expect(scene.recorder.exchanges.first?.interaction.modified == nil)
    }

    // MARK: Requests

    @Test func theOriginGetsTheEditedRequestAndTheRecordingHasTheClients() throws {
        let scene = try Self.scene(
            #"[{"name": "env", "request": {"set": {"header:x-env": "test", "query:page": "2"}, "remove": ["header:cookie"]}}]"#)
        scene.client("GET http://h/a?page=1 HTTP/1.1\r\nHost: h\r\nCookie: a=1\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        #expect(
            scene.heard() == [
                "dial h", "origin 1 < GET /a?page=2 HTTP/1.1|Host: h|x-env: test||", "client < HTTP/1.1 200 OK|Content-Length: 2||ok",
            ])
        let recorded = try #require(scene.recorder.exchanges.first?.interaction)
        #expect(recorded.request.url == "http://h/a?page=1" && recorded.request.headers.first("cookie") == "a=1")
        #expect(recorded.modified == Modification(rules: ["env"], forwardedTo: "http://h/a?page=2"))
    }

    @Test func anEditedBodyGetsItsLength() throws {
        let scene = try Self.scene(#"[{"request": {"set": {"json:/a": 10}}}]"#)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        scene.client("7\r\n{\"a\":1}\r\n0\r\n\r\n")
        scene.connected()
        #expect(
            scene.heard() == [
                "dial h",
                "origin 1 < POST /a HTTP/1.1|Host: h|Content-Type: application/json|Content-Length: 8||{\"a\":10}",
            ])
        scene.origin(Self.ok)
        #expect(scene.recorder.summary == ["POST 200 complete 7 2"])
    }

    /// It is edited on another thread, like every long body and every one with a content coding.
    @Test func aLongBodyIsEditedAndRecordedAsItCame() throws {
        let scene = try Self.scene(
            #"[{"when": "~bq ^.{1,9}a", "request": {"set": {"json:/a": 10}}, "response": {"replace": [{"in": "body", "match": "o", "with": "0"}]}}]"#
        )
        let text = String(repeating: "x", count: 100_000)
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 100014\r\n\r\n")
        scene.client("{\"a\":1,\"b\":\"\(text)\"}")
        scene.connected()
        let sent = "|Content-Type: application/json|Content-Length: 100015||{\"a\":10,\"b\":\"\(text)\"}"
        #expect(scene.heard() == ["dial h", "origin 1 < POST /a HTTP/1.1|Host: h\(sent)"])
        scene.origin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n\(text)\r\n2\r\nok\r\n0\r\n\r\n")
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Length: 100002||\(text)0k"])
        #expect(scene.recorder.summary == ["POST 200 complete 100014 100002"])
        // The connection goes on.
        scene.client(Self.get)
        #expect(scene.heard() == ["origin 1 < GET /a HTTP/1.1|Host: h||"])
    }

    @Test func aMappedRequestGoesToTheOtherOriginAndIsRecordedUnderItsOwnURL() throws {
        let scene = try Self.scene(#"[{"name": "staging", "when": "~u ^http://h/v2/", "mapRemote": "http://other:81/x/"}]"#)
        scene.client("GET http://h/v2/pets?a=1 HTTP/1.1\r\nHost: h\r\n\r\n")
        scene.connected()
        scene.origin(Self.ok)
        #expect(
            scene.heard() == [
                "dial other:81", "origin 1 < GET /x/pets?a=1 HTTP/1.1|Host: other:81||", "client < HTTP/1.1 200 OK|Content-Length: 2||ok",
            ])
        let recorded = try #require(scene.recorder.exchanges.first?.interaction)
        #expect(recorded.request.url == "http://h/v2/pets?a=1")
        #expect(recorded.modified == Modification(rules: ["staging"], forwardedTo: "http://other:81/x/pets?a=1"))
    }

    // MARK: Answers

    @Test func theClientGetsTheEditedAnswerAndTheRecordingHasTheOrigins() throws {
        let scene = try Self.scene(
            #"[{"response": {"status": 503, "set": {"header:x": "y"}, "replace": [{"in": "body", "match": "prod", "with": "staging"}]}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na-p\r\n3\r\nrod\r\n0\r\n\r\n")
        let answer = "client < HTTP/1.1 503 Service Unavailable|x: y|Content-Length: 9||a-staging"
        #expect(scene.heard() == ["dial h", Self.sentGet, answer])
        #expect(scene.recorder.summary == ["GET 200 complete 6"])
    }

    /// A client waits for the end of the body of every other status.
    @Test(arguments: ["204 No Content", "304 Not Modified"]) func anEditedStatusEndsAnAnswerWithoutABody(status: String) throws {
        let scene = try Self.scene(#"[{"response": {"status": 200}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 \(status)\r\n\r\n")
        #expect(scene.heard().last == "client < HTTP/1.1 200 OK|Content-Length: 0||")
    }

    @Test func aBodyForAStatusWithoutOneIsNoted() throws {
        let scene = try Self.scene(#"[{"name": "edit", "response": {"status": 204, "set": {"json:/a": 1}}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard().last == "client < HTTP/1.1 204 No Content||")
        #expect(Self.reports(scene).last == "rule \"edit\": an answer with the status 204 has no body to edit.")
    }

    @Test func aHeadWithoutContentHasNoLength() throws {
        let scene = try Self.scene(#"[{"response": {"status": 204}}]"#)
        scene.client("HEAD http://h/a HTTP/1.1\r\nHost: h\r\n\r\n")
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n")
        #expect(scene.heard().last == "client < HTTP/1.1 204 No Content||")
    }

    /// The method of the request decides how the answer is framed.
    @Test(arguments: [("GET", "HEAD"), ("HEAD", "GET")]) func aMethodIsNotChangedToHEADOrFromIt(method: String, other: String) throws {
        let rules = "[{\"name\": \"edit\", \"request\": {\"method\": \"\(other)\"}}]"
        let node = RuleNode(try JSONDocument(Array(rules.utf8)).root)
        guard let parsed = try? TrafficRules([RuleList(node: node, file: "rules", folder: nil)]) else {
            #expect(other == "HEAD")
            return
        }
        let scene = try ExchangeScene { $0.rules = RuleEngine(parsed) }
        scene.client("\(method) http://h/a HTTP/1.1\r\nHost: h\r\n\r\n")
        scene.connected()
        #expect(scene.heard().last?.hasPrefix("origin 1 < \(method) /a ") == true)
        #expect(Self.reports(scene).count == 2)
    }

    @Test func eachEventOfAStreamIsEdited() throws {
        let scene = try Self.scene(#"[{"name": "edit", "response": {"replace": [{"in": "body", "match": "a", "with": "b"}]}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 24\r\n\r\nid: a\ndata: a\n\ndata: c\n")
        #expect(scene.heard().last?.hasSuffix("|Content-Type: text/event-stream|Transfer-Encoding: chunked||f|id: a\ndata: b\n\n|") == true)
        scene.origin("\n")
        #expect(scene.heard().first?.hasPrefix("client < 9|data: c\n\n|") == true)
        #expect(scene.recorder.summary == ["GET 200 complete 24"])
    }

    /// It has no line end.
    @Test func theLastLineOfAStreamIsEdited() throws {
        let scene = try Self.scene(#"[{"response": {"set": {"json:/a": 7}}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nContent-Length: 15\r\n\r\n{\"a\":1}\n{\"a\":2}")
        #expect(scene.heard().last?.hasSuffix("|8|{\"a\":7}\n|7|{\"a\":7}|0||") == true)
        #expect(Self.reports(scene).count == 1)
    }

    @Test(arguments: ["text/plain", "application/json", "text/event-stream\r\nContent-Encoding: gzip"])
    func aClientThatLeavesABodyWithoutAnEndBeforeItsEditIsNoted(type: String) throws {
        let scene = try Self.scene(#"[{"name": "edit", "response": {"replace": [{"in": "body", "match": "x", "with": "y"}]}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\nx\n")
        scene.clientResets()
        #expect(Self.reports(scene).last == "rule \"edit\": the client left before the end of the body, which an edit of it needs.")
    }

    @Test func aLongLineOfAStreamIsNotEdited() throws {
        let scene = try Self.scene(#"[{"name": "edit", "response": {"replace": [{"in": "body", "match": "x", "with": "y"}]}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\nx\n")
        #expect(scene.heard().last?.contains("y\n") == true)
        let long = String(repeating: "x", count: 700_000)
        scene.origin(long)
        scene.origin(long)
        scene.origin("x\nx\n")
        let heard = scene.heard().joined()
        #expect(heard.count { $0 == "x" } == 1_400_001 && heard.count { $0 == "y" } == 1)
        #expect(
            Self.reports(scene).last == "rule \"edit\": an event or line of an answer is cut, or has more than 1 MiB, and is not edited.")
    }

    @Test func errorsOfTheProxyAreNotEdited() throws {
        let scene = try Self.scene(#"[{"response": {"status": 200}}]"#)
        scene.client(Self.get)
        scene.refused()
        #expect(scene.heard().last?.hasPrefix("client < HTTP/1.1 502 ") == true)
    }

    // MARK: Pace

    @Test func aLatencyDelaysTheHead() throws {
        let scene = try Self.scene(#"[{"pace": {"latency": "300ms"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["dial h", Self.sentGet])
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
        scene.loop.advanceTime(by: .milliseconds(299))
        #expect(scene.heard() == [])
        scene.loop.advanceTime(by: .milliseconds(1))
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Length: 2||ok"])
        scene.client(Self.get)
        #expect(scene.heard() == [Self.sentGet])
    }

    @Test func aRateSpreadsTheBody() throws {
        let scene = try Self.scene(#"[{"pace": {"down": "8kbit", "burst": "1B"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + String(repeating: "x", count: 2000))
        _ = scene.heard()
        var (size, half) = (0, 0)
        for tick in 1...210 {
            scene.loop.advanceTime(by: .milliseconds(10))
            for line in scene.heard() { size += line.count { $0 == "x" } }
            if tick == 100 { half = size }
        }
        #expect(size == 2000)
        #expect(half >= 750 && half <= 1000)
    }

    @Test func aClientThatLeavesDuringADelayLeavesTheExchangeWhole() throws {
        let scene = try Self.scene(#"[{"pace": {"latency": "1s"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        scene.clientResets()
        scene.advance(2)
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
    }

    // MARK: Faults

    @Test func theFirstAttemptsFailAndTheNextPasses() throws {
        let scene = try Self.scene(#"[{"fault": {"status": 429, "retryAfter": "2s", "first": 2}}]"#)
        for _ in 1...2 {
            scene.client(Self.get)
            let heard = scene.heard()
            #expect(heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 429 Too Many Requests|"))
            #expect(heard.first?.contains("|Retry-After: 2|") == true)
        }
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["dial h", Self.sentGet, "client < HTTP/1.1 200 OK|Content-Length: 2||ok"])
        #expect(scene.recorder.summary == ["GET 200 complete 2"])
    }

    @Test func aCutLeavesTheRecordingWhole() throws {
        let scene = try Self.scene(#"[{"fault": {"kind": "cut", "after": "3B"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcd")
        scene.loop.advanceTime(by: .milliseconds(5))
        #expect(scene.heard() == ["dial h", Self.sentGet, "client < HTTP/1.1 200 OK|Content-Length: 6||abc", "client closed"])
        #expect(scene.recorder.exchanges.isEmpty)
        scene.origin("ef")
        #expect(scene.recorder.summary == ["GET 200 complete 6"])
    }

    @Test func anOriginThatFallsSilentAfterACutIsLetGo() throws {
        let scene = try Self.scene(#"[{"fault": {"kind": "cut", "after": "3B"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcd")
        scene.advance(scene.proxy.limits.upstreamSilence + 2)
        #expect(scene.heard().contains("origin 1 closed"))
        #expect(scene.recorder.exchanges.count == 1)
    }

    @Test func aTruncatedBodyHasARightFraming() throws {
        let scene = try Self.scene(#"[{"fault": {"kind": "truncate", "after": "50%"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef")
        scene.client(Self.get)
        #expect(
            scene.heard() == ["dial h", Self.sentGet, "client < HTTP/1.1 200 OK|Content-Length: 3||abc", Self.sentGet])
        scene.origin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n")
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Transfer-Encoding: chunked||3|abc|0||"])
    }

    @Test func aStallEnds() throws {
        let scene = try Self.scene(#"[{"fault": {"kind": "stall", "for": "20s", "after": "1B"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard().last == "client < HTTP/1.1 200 OK|Content-Length: 2||o")
        scene.advance(19)
        // The origin has answered, so its connection is idle.
        #expect(scene.heard() == ["origin 1 closed"])
        scene.advance(1)
        #expect(scene.heard() == ["client < k"])
    }

    @Test func aTimeoutNeverEndsAndIsLetGoWhenTheProxyStops() throws {
        let scene = try Self.scene(#"[{"fault": "timeout"}]"#)
        scene.client(Self.get)
        scene.advance(500)
        #expect(scene.heard() == [])
        scene.stop()
        #expect(Set(scene.heard()) == ["client closed", "stopped"])
    }

    @Test(arguments: [
        ("drop", "data: 1\n\ndata: 3\n\n"), ("repeat", "data: 1\n\ndata: 2\n\ndata: 2\n\ndata: 3\n\n"),
        ("reorder", "data: 1\n\ndata: 3\n\ndata: 2\n\n"),
    ]) func eventsAreLostAndComeTwiceAndLate(kind: String, body: String) throws {
        let scene = try Self.scene("[{\"fault\": {\"kind\": \"\(kind)\", \"after\": \"1 events\"}}]")
        scene.client(Self.get)
        scene.connected()
        scene.origin("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        var got = scene.heard().joined()
        for event in 1...3 { scene.origin("9\r\ndata: \(event)\n\n\r\n") }
        scene.origin("0\r\n\r\n")
        got += scene.heard().map { $0.dropFirst("client < ".count) }.joined()
        let chunks = got.split(separator: "|").filter { $0.hasPrefix("data:") }.joined()
        #expect(chunks == body)
        #expect(scene.recorder.summary == ["GET 200 complete 27"])
    }

    @Test func aFaultBehindTheEndIsReported() throws {
        let scene = try Self.scene(#"[{"name": "late", "fault": {"kind": "cut", "after": "1KiB"}}]"#)
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard().last == "client < HTTP/1.1 200 OK|Content-Length: 2||ok")
        #expect(Self.reports(scene).last == "rule \"late\": the body of the answer ends before the fault.")
    }

    /// The client asked for no WebSocket.
    @Test(arguments: ["", #", "after": "2 messages""#]) func aCloseFrameIsForWebSocketsAlone(after: String) throws {
        let scene = try Self.scene("[{\"name\": \"bye\", \"fault\": {\"kind\": \"close\", \"code\": 1011\(after)}}]")
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        #expect(scene.heard() == ["dial h", Self.sentGet, "client < HTTP/1.1 200 OK|Content-Length: 2||ok"])
        #expect(Self.reports(scene).last == "rule \"bye\": an answer opens no WebSocket, so no close frame ends it.")
    }

    /// The client asked for a WebSocket, and the origin does not open one.
    @Test func aFaultOfAWebSocketThatIsNotOpenedIsReported() throws {
        let scene = try Self.scene(#"[{"name": "bye", "fault": {"kind": "close", "code": 1011}}, {"name": "x", "fault": "cut"}]"#)
        scene.client(WebSocketTalk.request("http://h/a", host: "h"))
        scene.connected()
        scene.origin("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        #expect(scene.heard().last == "client < HTTP/1.1 403 Forbidden|Content-Length: 2||no")
        #expect(Self.reports(scene).contains("rule \"bye\": an answer opens no WebSocket, so no close frame ends it."))
    }

    // MARK: The verdict on the client

    @Test func aStallBeginsWhenWhatComesBeforeItIsOver() throws {
        let node = RuleNode(
            try JSONDocument(Array(#"[{"pace": {"latency": "5s"}}, {"fault": {"kind": "stall", "for": "3s", "after": "1B"}}]"#.utf8)).root)
        let rules = try TrafficRules([RuleList(node: node, file: "rules", folder: nil)])
        let scene = try ExchangeScene {
            $0.rules = RuleEngine(rules)
            $0.judgesClient = true
        }
        scene.client(Self.get)
        scene.connected()
        scene.origin(Self.ok)
        let log = try #require(scene.proxy.rules?.attempts)
        scene.advance(4)
        #expect(log.attempts.first?.outcome == .answer(200))
        scene.advance(2)
        #expect(log.attempts.first?.outcome == .stalled(from: .zero))
        scene.advance(3)
        #expect(log.attempts.first?.outcome == .answer(200))
        #expect(log.attempts.first?.stalledFrom == .zero)
    }

    /// The client has the whole answer after its head.
    @Test(arguments: [("GET", "204 No Content", "garbage"), ("GET", "304 Not Modified", "cut"), ("HEAD", "200 OK", "cut")])
    func aFaultInTheTrailersOfAnAnswerWithoutABodyIsNoFailureOfTheRequest(method: String, status: String, kind: String) throws {
        let node = RuleNode(
            try JSONDocument(Array(#"[{"name": "late", "fault": {"kind": "\#(kind)", "in": "trailers"}}]"#.utf8)).root)
        let rules = try TrafficRules([RuleList(node: node, file: "rules", folder: nil)])
        let scene = try ExchangeScene {
            $0.rules = RuleEngine(rules)
            $0.judgesClient = true
        }
        scene.client("\(method) http://h/a HTTP/1.1\r\nHost: h\r\n\r\n")
        scene.connected()
        scene.origin("HTTP/1.1 \(status)\r\nContent-Length: 7\r\n\r\n")
        let attempt = try #require(scene.proxy.rules?.attempts?.attempts.first)
        #expect(attempt.outcome == .answer(Int(status.prefix(3)) ?? 0))
        #expect(
            Self.reports(scene).last
                == "rule \"late\": the answer has no body, so the client has all of it before the fault in the trailers.")
    }

    /// Clients make a new boundary for each attempt.
    @Test(arguments: [("application/octet-stream", true), ("multipart/form-data; boundary=a", false)])
    func aLongUploadInPartsMayComeAgainUnrecognised(type: String, isKnown: Bool) throws {
        let scene = try ExchangeScene {
            $0.rules = RuleEngine(TrafficRules())
            $0.judgesClient = true
        }
        let size = (1 << 20) + 1
        scene.client("POST http://h/a HTTP/1.1\r\nHost: h\r\nContent-Type: \(type)\r\nContent-Length: \(size)\r\n\r\n")
        scene.connected()
        scene.client([UInt8](repeating: 97, count: size))
        scene.stored()
        scene.drained()
        let attempt = try #require(scene.proxy.rules?.attempts?.attempts.first)
        #expect(attempt.hasWholeRequest == isKnown && !attempt.bodyDigest.isEmpty)
    }

    @Test func aDateOfRetryAfterIsKept() throws {
        let scene = try ExchangeScene {
            $0.rules = RuleEngine(TrafficRules())
            $0.judgesClient = true
        }
        scene.client(Self.get)
        scene.connected()
        scene.origin(
            "HTTP/1.1 503 Service Unavailable\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sunday, 06-Nov-94 08:50:07 GMT\r\n"
                + "Content-Length: 0\r\n\r\n")
        let attempt = try #require(scene.proxy.rules?.attempts?.attempts.first)
        #expect(attempt.retryAfter == .seconds(30) && attempt.isRetryAfterDate)
    }

    private static func webSocket(_ rules: String) throws -> ExchangeScene {
        let scene = try Self.scene(rules)
        scene.client(WebSocketTalk.request("http://h/a", host: "h"))
        scene.connected()
        scene.origin(WebSocketTalk.switching)
        scene.origin(WebSocketTalk.text("a", from: .server))
        _ = scene.heard()
        return scene
    }

    /// Compressed messages depend on those before them.
    @Test(arguments: [("drop", true), ("repeat", true), ("reorder", true), ("cut", false), ("slice", false)])
    func messagesThatAreMovedAreNotCompressed(kind: String, isPlain: Bool) throws {
        let scene = try Self.scene(#"[{"name": "one", "fault": {"kind": "\#(kind)", "after": "1 messages"}}]"#)
        scene.client(WebSocketTalk.request("http://h/a", host: "h", deflates: true))
        scene.connected()
        let sent = scene.heard().joined()
        #expect(sent.contains("Sec-WebSocket-Key") && sent.contains("permessage-deflate") == !isPlain)
        let note = "rule \"one\": a WebSocket is opened without compression, so that its messages can be changed one by one."
        #expect(Self.reports(scene).contains(note) == isPlain)
        scene.origin(WebSocketTalk.opening(deflates: !isPlain))
        #expect(scene.heard().joined().contains("permessage-deflate") == !isPlain)
    }

    @Test(arguments: ["2 messages", "1KiB"]) func aFaultBehindTheEndOfAWebSocketIsReported(after: String) throws {
        let rules = "[{\"name\": \"late\", \"fault\": {\"kind\": \"cut\", \"after\": \"\(after)\"}}]"
        let note = "rule \"late\": the WebSocket ends before the fault."
        for leaves in [{ $0.originEnds() }, { $0.originResets() }, { $0.clientResets() }] as [(ExchangeScene) -> Void] {
            let scene = try Self.webSocket(rules)
            #expect(Self.reports(scene).count == 1)
            leaves(scene)
            #expect(Self.reports(scene).last == note)
        }
        let scene = try Self.webSocket(rules)
        scene.origin(WebSocketTalk.close(1000, from: .server))
        scene.client(WebSocketTalk.close(1000, from: .client))
        scene.originEnds()
        #expect(Self.reports(scene).last == note)
    }

    @Test func aRuleWithoutARequestIsReported() throws {
        let scene = try Self.scene(#"[{"name": "x", "when": "~u /never", "block": 403}]"#)
        scene.client(Self.get)
        #expect(Self.reports(scene) == ["rule \"x\" (\"rules\" line 1) never matched: no request fits \"~u /never\"."])
    }
}
