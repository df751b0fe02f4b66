@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import Testing

/// Rules of redaction whose places reach any depth.
struct ReachingRedactionTests {
    private func redacted(
        _ json: String, _ rules: [String] = [], keep: [String] = [], type: String = "application/json"
    ) throws -> String {
        let redactor = Redactor(rules: try RedactionRules(rules: rules, keep: keep))
        let live = LiveRedactor(redactor).forOneRequest()
        let body = live.redacted(body: Array(json.utf8), headers: HeaderFields(["Content-Type: \(type)"]), messages: nil)
        return body.map { String(decoding: $0, as: UTF8.self) } ?? json
    }

    @Test func anyDepth() throws {
        let text = try self.redacted(#"{"a":[{"pin":"blue-monkey-7","z":"k"}],"pin":"horse77x"}"#, ["json:/**/pin"])
        #expect(text == #"{"a":[{"pin":"{{pin:1}}","z":"k"}],"pin":"{{pin:2}}"}"#)
    }

    @Test func elementsByAMember() throws {
        let json = #"{"u":[{"pin":"blue-monkey-7","role":"admin"},{"role":"x","pin":"red-monkey-9"}]}"#
        #expect(try self.redacted(json, ["json:/u[role=admin]/pin"]) == json.replacing("blue-monkey-7", with: "{{pin:1}}"))
        #expect(try self.redacted(json, ["json:/u[role=admin]/pin=[0-9]+"]) == json.replacing("monkey-7", with: "monkey-{{pin:1}}"))
    }

    @Test func namesByExpression() throws {
        let json = #"{"a":{"x-m":"blue-monkey-7","y":"k"}}"#
        #expect(try self.redacted(json, ["json:/**/~^x-"]) == json.replacing("blue-monkey-7", with: "{{json:1}}"))
    }

    @Test func exceptionsReach() throws {
        let json = #"{"a":{"password":"hunter2-abc"}}"#
        #expect(try self.redacted(json) != json)
        #expect(try self.redacted(json, keep: ["json:/**/password"]) == json)
    }

    @Test func stringsAreRefused() {
        #expect(throws: SettingSyntaxError.self) { try RedactionRule("json:/a|json:/b") }
    }

    @Test func numbersInConditionsAreComparedByTheirValue() throws {
        let json = #"{"u":[{"n":1.0,"pin":"blue-monkey-7"},{"n":2,"pin":"red-monkey-9"}]}"#
        #expect(try self.redacted(json, ["json:/u[n=1]/pin"]) == json.replacing("blue-monkey-7", with: "{{pin:1}}"))
    }

    @Test(arguments: [100, 127, 128, 129, 200, 1000, 4000]) func valuesAreReachedHoweverDeepTheyAre(depth: Int) throws {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let start = String(repeating: open, count: depth)
            let end = String(repeating: close, count: depth)
            let text = try self.redacted(#"{"x":\#(start){"pin":"blue-monkey-7"}\#(end),"pin":"red-monkey-9"}"#, ["json:/**/pin"])
            #expect(text == #"{"x":\#(start){"pin":"{{pin:1}}"}\#(end),"pin":"{{pin:2}}"}"#)
        }
    }

    @Test func whatIsTooDeepIsNoted() throws {
        let redactor = Redactor(rules: try RedactionRules(rules: ["json:/**/pin"]))
        var request = RecordedRequest(method: "POST", url: "http://h/", headers: HeaderFields(["Content-Type: application/json"]))
        var body: WireBody? = WireBody(Array((String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)).utf8))
        #expect(redactor.redact(request: &request, body: &body).note?.contains("not searched by the rules for places in JSON") == true)
        body = WireBody(Array(#"{"pin":"#.utf8))
        #expect(redactor.redact(request: &request, body: &body).note == nil)
    }

    /// Where a text is cut, what may be a secret is one.
    @Test(arguments: [
        (#"{"a":[{"pin":"blue-monkey-7","z":1},{"pin":"red-mon"#, #"{"a":[{"pin":"{{pin:1}}","z":1},{"pin":"{{pin:2}}"#),
        (#"{"pin":"blue-\u00"#, #"{"pin":"{{pin:1}}"#),
        ("{\"pin\":\"blue-monkey-7\nand more\",\"b\":1}", #"{"pin":"{{pin:1}}","b":1}"#),
        (#"{"pin":["blue-monkey-7","red-monkey-9"#, #"{"pin":["{{pin:1}}","{{pin:2}}"#),
        (#"{"b":"blue-monkey-7","pi"#, #"{"b":"blue-monkey-7","pi"#),
    ]) func cutTextsAreSearchedToTheirEnd(json: String, expected: String) throws {
        #expect(try self.redacted(json, ["json:/**/pin"]) == expected)
    }

    @Test func anElementThatIsCutMayMeetACondition() throws {
        let json = #"{"u":[{"pin":"blue-monkey-7","role":"x"},{"pin":"red-monkey-9","z":"k"#
        #expect(try self.redacted(json, ["json:/u[role=admin]/pin"]) == json.replacing("red-monkey-9", with: "{{pin:1}}"))
        let secret = #"{"u":[{"password":"hunter2-abc","ro"#
        #expect(try self.redacted(secret, keep: ["json:/u[role=x]/password"]) != secret)
    }

    @Test(arguments: [
        ("{\n \"pin\": \"blue-monkey-7\"\n}\n{\n \"pin\": \"red-monkey-9\"\n}\n", "application/json"),
        (#"{"pin":"blue-monkey-7"}{"pin":"red-monkey-9"}"#, "application/json"),
        ("{\"pin\":\"blue-monkey-7\"}\n{\"pin\":\"red-monkey-9\"}\n", "application/x-ndjson"),
        ("\u{1e}{\n\"pin\":\"blue-monkey-7\"}\n\u{1e}{\"pin\":\n\"red-monkey-9\"}\n", "application/json-seq"),
        ("data: {\"pin\":\ndata: \"blue-monkey-7\"}\n\ndata: {\"pin\":\"red-monkey-9\"}\n\n", "text/event-stream"),
        ("data:{\rdata:\"pin\":\"blue-monkey-7\"\rdata:}\r\rdata:{\"pin\":\"red-monkey-9\"}\r\r", "text/event-stream"),
        (
            "event: a\r\ndata: {\r\ndata: \"pin\":\"blue-monkey-7\"\r\ndata: }\r\n\r\nid: 1\r\ndata: {\"pin\":\"red-monkey-9",
            "text/event-stream"
        ),
        ("broken {\n{\"pin\":\"blue-monkey-7\"}\n[1,\n{\"pin\":\"red-monkey-9\"}\n", "text/plain"),
    ]) func severalTexts(text: String, type: String) throws {
        let expected = text.replacing("blue-monkey-7", with: "{{pin:1}}").replacing("red-monkey-9", with: "{{pin:2}}")
        #expect(try self.redacted(text, ["json:/**/pin"], type: type) == expected)
    }

    /// Lines that each begin a text which does not end are not read again from each of them to the end.
    @Test func brokenTextsCostNoMoreThanSoMuchAByte() throws {
        let text = String(repeating: "[1,\n", count: 200_000) + #"{"pin":"blue-monkey-7"}"#
        #expect(try self.redacted(text, ["json:/**/pin"], type: "text/plain").hasSuffix(#"{"pin":"{{pin:1}}"}"#))
    }

    /// `{"u":[{"r":"a","pin":"blue-monkey-7"}]}`, and a map with the key "1".
    @Test(arguments: [
        ("json:/u[r=a]/pin", "81a17591" + "82a172a161" + "a370696ead626c75652d6d6f6e6b65792d37"),
        ("json:/u/*/~^p", "81a17591" + "82a172a161" + "a370696ead626c75652d6d6f6e6b65792d37"),
        ("json:/u/~^1", "81a175" + "81a131" + "ad626c75652d6d6f6e6b65792d37"),
    ]) func treesInOtherFormats(rule: String, hex: String) throws {
        let body = try #require(Hex.decode(hex.utf8))
        let live = LiveRedactor(Redactor(rules: try RedactionRules(rules: [rule]))).forOneRequest()
        let redacted = live.redacted(body: body, headers: HeaderFields(["Content-Type: application/msgpack"]), messages: nil)
        #expect(redacted.map { !String(decoding: $0, as: UTF8.self).contains("monkey") } == true)
    }
}
