@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import Testing

/// Rules of redaction whose places reach any depth.
struct ReachingRedactionTests {
    private func redacted(_ json: String, _ rules: [String] = [], keep: [String] = []) throws -> String {
        let redactor = Redactor(rules: try RedactionRules(rules: rules, keep: keep))
        let live = LiveRedactor(redactor).forOneRequest()
        let body = live.redacted(body: Array(json.utf8), headers: HeaderFields(["Content-Type: application/json"]), messages: nil)
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
}
