import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore

@Suite struct RecordedCassetteRulesTests {
    private func cassette(_ members: String, _ folder: TemporaryFolder) throws -> RecordedCassette {
        let text = "{\n  \"wiretape\": 1,\(members)\n  \"interactions\": [\n  ]\n}\n"
        return try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
    }

    @Test func aCassetteWithoutRulesHasTheStandardOnes() throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette("", folder)
        #expect(try cassette.matchTexts() == nil)
        #expect(try cassette.matchRules().rules == MatchRules.standard.rules)
    }

    @Test func itsOwnRulesAreLaidOverTheStandardOnes() throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette("\"match\": { \"match\": [\"method\", \"path\"], \"ignore\": [\"query:ts\"] },", folder)
        #expect(try cassette.matchTexts() == MatchRuleTexts(match: ["method", "path"], ignore: ["query:ts"]))
        let session = try CassetteSession(mode: .none, cassette: cassette)
        #expect(session.rules.rules == [.method, .path])
        #expect(session.rules.ignored == [.queryItem("ts")])
        // Those of the caller take their place.
        #expect(try CassetteSession(mode: .none, cassette: cassette, rules: .standard).rules.ignored.isEmpty)
    }

    @Test(arguments: ["\"match\": 1,", "\"match\": { \"match\": [\"colour\"] },", "\"match\": { \"what\": [] },"])
    func wrongRulesAreNamedWithTheFile(member: String) throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette(member, folder)
        let error = #expect(throws: CassetteError.self) { try CassetteSession(mode: .none, cassette: cassette) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("a.json") == true, "\(error?.message ?? "")")
    }

    @Test func aTornHeadHasNoRules() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("{\n  \"wiretape\": 1,\n  \"mat".utf8), to: "a.json")
        #expect(try RecordedCassette(path: path).matchTexts() == nil)
    }

    @Test func theRulesOfAFileNeedNoSenseInItsExchanges() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            Array("{ \"wiretape\": 1, \"match\": { \"ignore\": [\"path\"] }, \"interactions\": [ { \"id\": 1 } ] }".utf8), to: "a.json")
        #expect(throws: CassetteError.self) { try RecordedCassette(path: path) }
        #expect(try RecordedCassette.matchTexts(ofFile: path) == MatchRuleTexts(ignore: ["path"]))
    }
}
