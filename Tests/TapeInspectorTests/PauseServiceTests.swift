import CassetteModel
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing
import TrafficRules

@Suite struct PauseServiceTests {
    /// Decisions about messages, in their order.
    private final class Decisions: Sendable {
        let all = Guarded<[PauseDesk.Decision]>([])
        var last: PauseDesk.Decision? { self.all.withLock { $0.last } }
    }

    private let decisions = Decisions()

    private func put(
        _ run: TrafficRun, _ stage: PauseDesk.Stage, headers: [String] = ["Host: a", "X: \u{e9}"], body: [UInt8]? = Array("hi".utf8),
        note: String? = nil, at seconds: Int = 4
    ) throws -> Int {
        var content = PauseDesk.Content()
        content.method = stage == .request ? "POST" : ""
        content.url = stage == .request ? "http://a/pay?x=1" : ""
        content.status = stage == .response ? 200 : 0
        content.headers = HeaderFields(headers)
        content.body = body
        let decisions = self.decisions
        return try run.desk.put(
            PauseDesk.Item(
                stage: stage, rule: "stop", method: "POST", url: "http://a/pay?x=1", content: content, began: .seconds(seconds - 1),
                paused: .seconds(seconds), wait: .seconds(30), bodyNote: note)
        ) { decision in decisions.all.withLock { $0.append(decision) } }
    }

    private func decide(_ run: TrafficRun, _ id: Int, _ members: String) throws -> (status: Int, json: JSONValue) {
        try run.ask("paused/\(id)", "{\(members)}")
    }

    @Test func theLongestWaitingIsFirstWithBothClocks() throws {
        let run = try TrafficRun()
        let late = try self.put(run, .response, at: 8)
        let early = try self.put(run, .request)
        run.desk.clientLeft(late)
        let list = try #require(try run.ask("paused").json["paused"]).elements.map { $0 }
        #expect(list.map { $0["id"]?.int } == [early, late] && list.map { $0["gone"]?.bool } == [false, true])
        #expect(list[0]["stage"]?.string == "request" && list[0]["rule"]?.string == "stop" && list[1]["status"]?.int == 200)
        // Ten seconds of the run have passed.
        #expect(list[0]["waits"]?.double == 7000 && list[0]["paused"]?.double == 6000 && list[0]["left"]?.double == 24_000)
        #expect(try run.ask("state").json["traffic"]?["paused"]?.int == 1)
    }

    @Test func aMessageIsShownWithItsContent() throws {
        let run = try TrafficRun()
        let text = try run.ask("paused/\(try self.put(run, .request))").json["content"]
        #expect(text?["method"]?.string == "POST" && text?["url"]?.string == "http://a/pay?x=1" && text?["body"]?.string == "hi")
        #expect(text?["headers"]?.elements.map(\.string) == ["Host: a", "X: \u{e9}"])
        let binary = try run.ask("paused/\(try self.put(run, .response, body: [0, 255]))").json["content"]
        #expect(binary?["base64"]?.string == "AP8=" && binary?["body"] == nil)
        let hidden = try run.ask("paused/\(try self.put(run, .response, body: nil, note: "it is a stream"))").json["content"]
        #expect(hidden?["note"]?.string == "it is a stream" && hidden?["body"] == nil)
        let large = try run.ask("paused/\(try self.put(run, .response, body: [UInt8](repeating: 65, count: 5 << 20)))").json["content"]
        #expect(large?["note"]?.string == "it has more than 4 MiB" && large?["body"] == nil && large?["size"]?.int == 5 << 20)
    }

    @Test func messagesGoOnChangedAnsweredOrNotAtAll() throws {
        let run = try TrafficRun()
        #expect(try self.decide(run, self.put(run, .request), #""decision": "pass""#).status == 200)
        #expect(self.decisions.last == .pass)
        #expect(try self.decide(run, self.put(run, .event), #""decision": "drop""#).status == 200)
        #expect(self.decisions.last == .drop)
        let changed = #""content": {"method": "PUT", "url": "https://b/", "headers": ["X: \u00e9", "New: 1"], "body": "ho"}"#
        #expect(try self.decide(run, self.put(run, .request), "\"decision\": \"change\", \(changed)").status == 200)
        guard case .change(let content)? = self.decisions.last else { throw TestProblem("no change") }
        #expect(content.method == "PUT" && content.url == "https://b/" && content.body == Array("ho".utf8))
        #expect(content.headers == HeaderFields(["X: \u{e9}", "New: 1"]))
        let answer = #""content": {"status": 503, "headers": ["Retry-After: 1"], "body": "no"}"#
        #expect(try self.decide(run, self.put(run, .request), "\"decision\": \"answer\", \(answer)").status == 200)
        guard case .answer(let content)? = self.decisions.last else { throw TestProblem("no answer") }
        #expect(content.status == 503 && content.reason == "Service Unavailable" && content.method.isEmpty)
        #expect(
            try self.decide(
                run, self.put(run, .response, body: nil, note: "a stream"), #""decision": "change", "content": {"status": 201}"#
            ).status == 200)
        guard case .change(let content)? = self.decisions.last else { throw TestProblem("no change") }
        #expect(content.status == 201 && content.body == nil)
        #expect(run.desk.count == 0)
    }

    @Test func bytesOfFieldsThatStayAreKept() throws {
        let run = try TrafficRun()
        var fields = HeaderFields()
        fields.append(line: Array("X: ".utf8) + [0xe9])
        var content = PauseDesk.Content()
        content.status = 200
        content.headers = fields
        let decisions = self.decisions
        let id = try run.desk.put(
            PauseDesk.Item(
                stage: .response, rule: "stop", method: "GET", url: "http://a/", content: content, began: .zero, paused: .zero,
                wait: .seconds(30))
        ) { decision in decisions.all.withLock { $0.append(decision) } }
        #expect(try run.ask("paused/\(id)").json["content"]?["headers"]?.elements.map(\.string) == ["X: \u{e9}"])
        #expect(try self.decide(run, id, #""decision": "change", "content": {"headers": ["X: \u00e9", "Y: 1"]}"#).status == 200)
        guard case .change(let changed)? = self.decisions.last else { throw TestProblem("no change") }
        #expect(Array(changed.headers.line(at: 0)) == Array("X: ".utf8) + [0xe9])
    }

    @Test(arguments: [
        (PauseDesk.Stage.request, #""decision": "explode""#, 400, "\"decision\" takes pass, change, answer, drop"),
        (.request, #""decision": "change""#, 400, "\"content\" takes an object"),
        (.request, #""decision": "change", "content": {"method": "GE T"}"#, 422, "is no method"),
        (.request, #""decision": "change", "content": {"url": "ftp://a/"}"#, 422, "no absolute URL"),
        (.request, #""decision": "change", "content": {"url": "http://a/\u0000"}"#, 422, "no absolute URL"),
        (.request, #""decision": "change", "content": {"headers": ["no colon"]}"#, 422, "cannot be the name"),
        (.request, #""decision": "change", "content": {"headers": ["A: 1\r\nB: 2"]}"#, 422, "control character"),
        (.request, #""decision": "change", "content": {"headers": ["Content-Length: 9"]}"#, 422, "where a message ends"),
        (.request, #""decision": "change", "content": {"headers": "x"}"#, 400, "not an array"),
        (.request, #""decision": "answer", "content": {"status": 101}"#, 422, "no final status"),
        (.request, #""decision": "answer", "content": {}"#, 422, "no final status"),
        (.request, #""decision": "answer", "content": {"status": "x"}"#, 400, "takes a number"),
        (.request, #""decision": "answer", "content": {"status": 200, "reason": "a\nb"}"#, 422, "control characters"),
        (.request, #""decision": "answer", "content": {"status": 200, "base64": "!"}"#, 400, "not base64"),
        (.request, #""decision": "drop", "always": true"#, 400, "\"always\" is for answers"),
        (.event, #""decision": "answer", "content": {"status": 200}"#, 422, "an event cannot be answered"),
        (.serverMessage, #""decision": "answer", "content": {"status": 200}"#, 422, "a message cannot be answered"),
    ])
    func badDecisionsLeaveTheMessageWaiting(stage: PauseDesk.Stage, members: String, status: Int, words: String) throws {
        let run = try TrafficRun()
        let id = try self.put(run, stage)
        let answer = try self.decide(run, id, members)
        #expect(answer.status == status && answer.json.message.contains(words), "\(answer)")
        #expect(run.desk.count == 1 && self.decisions.last == nil && run.engine.rules.isEmpty)
    }

    @Test func aBodyThatIsNotThereCannotBeChanged() throws {
        let run = try TrafficRun()
        let id = try self.put(run, .response, body: nil, note: "it is a stream")
        let answer = try self.decide(run, id, #""decision": "change", "content": {"body": "x"}"#)
        #expect(answer.status == 422 && answer.json.message.contains("it is a stream"))
        let always = try self.decide(run, id, #""decision": "pass", "always": true"#)
        #expect(always.status == 422 && always.json.message.contains("not here as a whole") && run.desk.count == 1)
    }

    @Test func aStaleDecisionIsRefused() throws {
        let run = try TrafficRun()
        let id = try self.put(run, .request)
        #expect(try self.decide(run, id, #""decision": "pass""#).status == 200)
        let again = try self.decide(run, id, #""decision": "drop""#)
        #expect(again.status == 409 && again.json.code == "gone" && again.json.message.contains("no longer waits"))
        #expect(self.decisions.all.withLock { $0 } == [.pass])
        #expect(try run.ask("paused/\(id)").status == 409 && run.ask("paused/x").status == 409)
        #expect(try run.ask("paused", "{}").status == 405 && run.ask("paused/\(id)", method: "PUT").status == 405)
    }

    @Test func answeringSoFromNowOnMakesTheFirstRule() throws {
        let run = try TrafficRun("modify:\n  - respond: { status: 500 }\n")
        let id = try self.put(run, .request)
        let content = #"{"status": 402, "headers": ["X-A: 1", "X-A: 2", "Content-Type: text/plain"], "body": "pay {{first}}"}"#
        #expect(try self.decide(run, id, "\"decision\": \"answer\", \"always\": true, \"content\": \(content)").status == 200)
        guard case .answer(let given)? = self.decisions.last else { throw TestProblem("no answer") }
        #expect(run.names == ["answer POST /pay", "rule 1"])
        let plan = try #require(run.engine.plan(for: RequestFacts(method: "POST", url: "http://a/pay?x=1"), now: .zero)?.answer)
        #expect(plan.status == 402 && plan.body == given.body && plan.headers.values("x-a") == ["1", "2"])
        for (method, url) in [("GET", "http://a/pay?x=1"), ("POST", "http://a/pay?x=12"), ("POST", "http://a/pay?x")] {
            #expect(run.engine.plan(for: RequestFacts(method: method, url: url), now: .zero)?.answer?.status == 500, "\(method) \(url)")
        }
        // The answer itself, as it came or changed, is made a rule too.
        for (number, members) in [#""decision": "pass""#, #""decision": "change", "content": {"status": 201}"#].enumerated() {
            let id = try self.put(run, .response, headers: ["Content-Length: 2", "Content-Encoding: gzip", "A: b"])
            #expect(try self.decide(run, id, members + #", "always": true"#).status == 200)
            let plan = try #require(run.engine.plan(for: RequestFacts(method: "POST", url: "http://a/pay?x=1"), now: .zero)?.answer)
            #expect(
                plan.status == 200 + number && plan.body == Array("hi".utf8)
                    && plan.headers.lines.sorted() == ["A: b", "Content-Length: 2", "Content-Type: text/plain; charset=utf-8"])
        }
        #expect(run.names == ["answer POST /pay (3)", "answer POST /pay (2)", "answer POST /pay", "rule 1"])
    }

    @Test func aRuleIsNotAddedForAMessageThatNoLongerWaits() throws {
        let run = try TrafficRun()
        let id = try self.put(run, .request)
        // Its client leaves while somebody types.
        run.desk.clientLeft(id)
        #expect(try self.decide(run, id, #""decision": "answer", "always": true, "content": {"status": 200}"#).status == 409)
        #expect(run.engine.rules.isEmpty)
    }
}
