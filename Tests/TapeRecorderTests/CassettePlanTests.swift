import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteStore
import TapeTestSupport
import Testing

@testable import TapeRecorder

@Suite struct CassettePlanTests {
    private func head(_ members: String) -> [UInt8] {
        Array("{\n  \"wiretape\": 1,\n  \"recorder\": \"test\",\n\(members)  \"interactions\": []\n}\n".utf8)
    }

    @Test func settingsAreLaidOverWhatTheCassetteSays() throws {
        let folder = try TemporaryFolder()
        try folder.write(self.head("  \"match\": { \"ignore\": [\"query:a\"] },\n  \"redaction\": {},\n"), to: "a.json")
        let path = folder.file("a.json")
        let recording = try RecordingPlan(path: path, mode: .none, exists: true)
        let plan = try CassettePlan(recording, cassette: RecordedCassette(path: path), matchTexts: MatchRuleTexts(ignore: ["query:b"]))
        #expect(plan.rules.texts.ignore == ["query:a", "query:b"])
        #expect(plan.recording.headMembers.isEmpty)
        #expect(plan.replacedRedaction == nil)
        #expect(try plan.liveRedactor(adding: nil) != nil)
    }

    @Test func aNewRecordingTakesOverTheRulesOfTheOldOne() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            self.head("  \"match\": { \"ignore\": [\"query:a\"] },\n  \"redaction\": { \"rules\": [\"header:x-old\"] },\n"), to: "a.json")
        let recording = try RecordingPlan(path: folder.file("a.json"), mode: .all, exists: true)
        let plan = try CassettePlan(recording, cassette: nil, matchTexts: MatchRuleTexts())
        #expect(plan.rules.texts.ignore == ["query:a"])
        #expect(plan.recording.headMembers.map(\.name) == ["match"])
        #expect(plan.replacedRedaction?.rules.map(\.text) == ["header:x-old"])
        #expect(try plan.liveRedactor(adding: nil) == nil)
    }
}
