import CassetteModel
import Testing
@testable import TrafficRules

@Suite struct RespondRuleTests {
    private func answer(_ respond: String, _ request: RequestFacts) throws -> (LocalAnswer, [String]) {
        let engine = try RulesText.engine("- respond: \(respond)")
        let answer = try #require(engine.plan(for: request, now: .zero)?.answer)
        return (answer, engine.report()[0].notes)
    }

    private func text(_ respond: String, _ request: RequestFacts) throws -> String {
        String(decoding: try self.answer(respond, request).0.body, as: UTF8.self)
    }

    private let call = RequestFacts.post("https://a.example:8443/rpc?x=a%20b&y", #"{"id": 7, "name": "A \"B\"", "list": [1, {"a": null}]}"#)

    @Test(arguments: [
        (#"{ json: { id: "{{json:/id}}", result: [] } }"#, #"{"id":7,"result":[]}"#),
        (
            #"{ json: { a: 1, b: "1", c: true, d: "true", e: ~, f: 1.50, g: 01 } }"#,
            #"{"a":1,"b":"1","c":true,"d":"true","e":null,"f":1.50,"g":"01"}"#
        ),
        (#"{ json: { name: "Hi {{json:/name}}!", all: "{{json:/list}}" } }"#, #"{"name":"Hi A \"B\"!","all":[1, {"a": null}]}"#),
        (#"{ json: { gone: "{{json:/gone}}", text: "<{{json:/gone}}>" } }"#, #"{"gone":null,"text":"<>"}"#),
        (#"{ json: ["{{query:x}}", "{{header:content-type}}", "{{query:y}}"] }"#, #"["a b","application/json",""]"#),
        (#"{ body: "{{method}} {{url}}" }"#, "POST https://a.example:8443/rpc?x=a%20b&y"),
        (#"{ body: "{{scheme}}|{{host}}|{{port}}|{{path}}|{{query}}" }"#, "https|a.example|8443|/rpc|x=a%20b&y"),
        (#"{ body: "{{ json:/id }}{{json:/list/1/a}}" }"#, "7null"),
        (#"{ body: "{{authorization:1}} {{json:/id}}" }"#, "{{authorization:1}} 7"),
        (#"{ body: "{{json:/id}} {{any}}", templates: false }"#, "{{json:/id}} {{any}}"), (#"{ base64: "AAEC" }"#, "\u{0}\u{1}\u{2}"),
        (#"{ status: 404 }"#, ""),
    ])
    func valuesOfTheRequestAreFilledIn(respond: String, body: String) throws {
        #expect(try self.text(respond, self.call) == body)
    }

    @Test func formFieldsAreFilledIn() throws {
        let form = RequestFacts.post("http://a.example/", "a=1+2&b=%C3%A9", type: "application/x-www-form-urlencoded")
        #expect(try self.text(#"{ body: "{{form:a}}{{form:b}}" }"#, form) == "1 2é")
    }

    @Test func fieldsSayWhatTheBodyIs() throws {
        let (json, _) = try self.answer(#"{ status: 201, json: {} }"#, self.call)
        #expect((json.status, json.reason) == (201, "Created"))
        #expect(json.headers.lines == ["Content-Type: application/json", "Content-Length: 2"])
        let (own, _) = try self.answer(
            #"{ status: 299, reason: Mine, headers: { content-type: text/html, set-cookie: [a=1, b=2], x-id: "{{json:/id}}" }, body: <p> }"#,
            self.call)
        #expect(own.reason == "Mine")
        #expect(own.headers.lines == ["content-type: text/html", "set-cookie: a=1", "set-cookie: b=2", "x-id: 7", "Content-Length: 3"])
        let (empty, _) = try self.answer("{ status: 204 }", self.call)
        #expect(empty.headers.lines == [])
        let (head, _) = try self.answer("{ body: hello }", RequestFacts(method: "HEAD", url: "http://a.example/"))
        #expect(head.headers.lines == ["Content-Type: text/plain; charset=utf-8", "Content-Length: 5"])
        #expect(head.body == [])
    }

    @Test func whatIsNotThereIsNotedOnce() throws {
        let engine = try RulesText.engine(#"- respond: { json: { id: "{{json:/gone}}", x: "{{header:x}}" } }"#)
        for _ in 0..<3 { _ = engine.plan(for: self.call, now: .zero) }
        #expect(
            engine.report()[0].notes == [
                "json:/gone is not there: the answer has nothing in its place",
                "header:x is not there: the answer has nothing in its place",
            ])
    }

    @Test func lineEndsDoNotComeIntoFields() throws {
        let request = RequestFacts.post("http://a.example/", #"{"id": "a\r\nSet-Cookie: b"}"#)
        let (answer, notes) = try self.answer(#"{ headers: { x-id: "{{json:/id}}" } }"#, request)
        #expect(answer.headers.lines == ["Content-Length: 0"])
        #expect(notes == ["x-id is left out: a value of the request has a line end or a control character in it"])
    }
}
