@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct CassetteHeadTests {
    private func head(_ text: String) -> CassetteHead { CassetteHead(Array(text.utf8)) }
    private func text(_ head: CassetteHead) -> String { String(decoding: head.bytes, as: UTF8.self) }

    @Test func aNewMemberComesBeforeTheInteractionsAndNothingElseChanges() throws {
        var head = self.head("{\n  \"wiretape\": 1,\n  \"x\" :  [ 1 ],\n  \"interactions\": [")
        try head.set(UnknownMember(name: "redaction", json: Array("{}".utf8)))
        #expect(self.text(head) == "{\n  \"wiretape\": 1,\n  \"x\" :  [ 1 ],\n  \"redaction\": {},\n  \"interactions\": [")
    }

    @Test func aMemberThatIsThereIsReplacedInItsPlace() throws {
        var head = self.head("{ \"redaction\": { \"rules\": [] }, \"wiretape\": 1, \"interactions\": [")
        try head.set(UnknownMember(name: "redaction", json: Array("{ \"keep\": [\"jwt\"] }".utf8)))
        #expect(self.text(head) == "{ \"redaction\": { \"keep\": [\"jwt\"] }, \"wiretape\": 1, \"interactions\": [")
    }

    @Test func rulesComeBackAsTheyWereWritten() throws {
        let rules = try RedactionRules(rules: ["json:/user/name", "text=[a-z]+@x"], keep: ["jwt"])
        var head = self.head("{ \"wiretape\": 1, \"interactions\": [")
        #expect(try head.redactionRules() == nil)
        try head.set(CassetteHead.member(rules))
        #expect(try head.redactionRules() == rules)
        try head.set(CassetteHead.member(.standard))
        #expect(try head.redactionRules() == .standard)
    }

    @Test func invalidRulesAreAnErrorWithTheirPosition() {
        let error = #expect(throws: CassetteError.self) {
            try self.head("{ \"redaction\": { \"rules\": [\"nowhere:x\"] }, \"interactions\": [").redactionRules()
        }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("\"redaction\"") == true)
    }

    @Test(arguments: ["", "{ \"wiretape\": 1,"]) func aHeadThatIsTornHasNoRulesAndTakesNone(_ text: String) throws {
        var head = self.head(text)
        #expect(try head.redactionRules() == nil)
        #expect(throws: CassetteError.self) { try head.set(CassetteHead.member(.standard)) }
        #expect(self.text(head) == text)
    }
}
