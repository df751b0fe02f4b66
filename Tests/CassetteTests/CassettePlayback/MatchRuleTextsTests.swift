@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

struct MatchRuleTextsTests {
    private func read(_ json: String) throws -> MatchRuleTexts { try MatchRuleTexts(JSONDocument(Array(json.utf8)).root) }

    private func written(_ texts: MatchRuleTexts) -> String {
        var writer = JSONWriter()
        texts.write(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func jsonIsReadAndWritten() throws {
        let json = #"{ "match": ["method", "url"], "ignore": ["query:ts"], "patterns": ["json:/id=[0-9]+"] }"#
        let texts = try self.read(json)
        #expect(texts == MatchRuleTexts(match: ["method", "url"], ignore: ["query:ts"], patterns: ["json:/id=[0-9]+"]))
        #expect(self.written(texts) == json)
        #expect(self.written(MatchRuleTexts(ignore: ["path"])) == #"{ "ignore": ["path"] }"#)
    }

    @Test func matchReplacesAndTheRestAdds() {
        let first = MatchRuleTexts(match: ["method"], ignore: ["path"], patterns: ["host=a"])
        #expect(
            first.adding(MatchRuleTexts(ignore: ["port"]))
                == MatchRuleTexts(match: ["method"], ignore: ["path", "port"], patterns: ["host=a"]))
        #expect(first.adding(MatchRuleTexts(match: ["url"])).match == ["url"])
        #expect(MatchRuleTexts().isEmpty)
        #expect(!MatchRuleTexts(match: []).isEmpty)
    }

    @Test(arguments: [
        ("[]", "expected an object"), (#"{"mach":[]}"#, "\"mach\" is not known"), (#"{"match":"url"}"#, "\"match\" is not an array"),
        (#"{"ignore":[1]}"#, "element that is not a string"), (#"{"match":[],"match":[]}"#, "appears twice"),
    ])
    func refusesOtherShapes(json: String, message: String) throws {
        let error = #expect(throws: MatchRuleError.self) { try self.read(json) }
        #expect(error?.message.contains(message) == true)
    }

    @Test func aMemberOfTheHeadHasEachRuleOnce() {
        let texts = MatchRuleTexts(ignore: ["query:a", "path", "query:a"], patterns: ["host=a", "host=a"])
        #expect(texts.headMember?.name == "match")
        #expect(
            texts.headMember.map { String(decoding: $0.json, as: UTF8.self) }
                == #"{ "ignore": ["query:a", "path"], "patterns": ["host=a"] }"#)
        #expect(MatchRuleTexts().headMember == nil)
    }
}
