import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct RunPlanTests {
    private let folder: TemporaryFolder
    private let cassette: String
    /// When its one exchange began, in seconds since 1970.
    private static let start: Int64 = 1_763_000_000

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
        let time = Timestamp(microseconds: Self.start * 1_000_000).formatted
        let text = """
            { "wiretape": 1, "match": { "ignore": ["query:own"] }, "redaction": { "rules": ["json:/own"] },
              "interactions": [ { "id": 1, "started": "\(time)",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """
        try self.folder.write(Array(text.utf8), to: "pets.json")
    }

    private static func set<Value>(_ value: Value) -> Setting<Value> { Setting(value: value, source: .commandLine) }

    private func plan(
        _ mode: RecordMode, ignore: [String] = [], maxAge: String? = nil, onExpired: ExpiryPolicy? = nil, mayRecord: Bool = true,
        age: Int64 = 0, file: String? = nil, remedy: String? = nil
    ) throws -> RunPlan {
        var settings = RunSettings()
        settings.ignore = ignore.map(Self.set)
        settings.maxAge = try maxAge.map { Self.set(try Age($0)) }
        settings.onExpired = onExpired.map(Self.set)
        return try RunPlan(
            file: file ?? self.cassette, mode: mode, settings: settings, mayRecord: mayRecord,
            now: Timestamp(microseconds: (Self.start + age) * 1_000_000), remedy: remedy)
    }

    @Test func aReplayComparesByTheCassettesRulesAndThoseGiven() throws {
        let plan = try self.plan(.none, ignore: ["query:given"])
        #expect(plan.rules.texts.ignore == ["query:own", "query:given"])
        #expect(plan.cassette?.count == 1 && plan.notices == [] && plan.recording.headMembers == [])
    }

    @Test func aNewCassetteKeepsTheRulesGiven() throws {
        let plan = try self.plan(.once, ignore: ["query:given"], file: self.folder.file("new.json"))
        #expect(plan.cassette == nil)
        #expect(plan.recording.headMembers.map { String(decoding: $0.json, as: UTF8.self) } == [#"{ "ignore": ["query:given"] }"#])
        #expect(try self.plan(.once, file: self.folder.file("new.json")).recording.headMembers == [])
    }

    @Test func aCassetteThatTakesAnothersPlaceKeepsItsRules() throws {
        let members = try self.plan(.all, ignore: ["query:given", "query:own"]).recording.headMembers
        #expect(members.map { String(decoding: $0.json, as: UTF8.self) } == [#"{ "ignore": ["query:own", "query:given"] }"#])
    }

    @Test func aCassetteThatTakesAnothersPlaceKeepsItsRulesOfRedaction() throws {
        #expect(try self.plan(.all).replacedRedaction == RedactionRules(rules: ["json:/own"]))
        #expect(try self.plan(.once, maxAge: "1d", onExpired: .rerecord, age: 90_000).replacedRedaction != nil)
        for mode in [RecordMode.none, .once, .newEpisodes] { #expect(try self.plan(mode).replacedRedaction == nil) }
        #expect(try self.plan(.all, file: self.folder.file("new.json")).replacedRedaction == nil)
    }

    @Test(arguments: [86_400, 86_399, 0] as [Int64])
    func aCassetteMayBeAsOldAsItMayBe(_ age: Int64) throws {
        #expect(try self.plan(.none, maxAge: "1d", onExpired: .fail, age: age).notices == [])
    }

    @Test func anOlderOneIsWarnedOf() throws {
        let plan = try self.plan(.none, maxAge: "1d", age: 3 * 86_400)
        #expect(plan.cassette != nil)
        #expect(
            plan.notices.count == 1 && plan.notices[0].hasPrefix("the cassette \"\(self.cassette)\" is 3 days old, and may be 24 hours"))
    }

    @Test func anOlderOneFailsWhereItIsTo() throws {
        let error = #expect(throws: RunPlan.Expired.self) { try self.plan(.none, maxAge: "1d", onExpired: .fail, age: 86_401) }
        #expect(error?.message.contains("wiretape record \(self.cassette)") == true)
    }

    @Test func anOlderOneIsRecordedAnewWhereThatIsPossible() throws {
        let plan = try self.plan(.once, maxAge: "1d", onExpired: .rerecord, age: 90_000)
        #expect(plan.cassette == nil && plan.recording.mode == .all && plan.recording.target == .replace)
        #expect(plan.notices.count == 1)
        let replay = try self.plan(.none, maxAge: "1d", onExpired: .rerecord, mayRecord: false, age: 90_000)
        #expect(replay.cassette != nil && replay.recording.mode == .none && replay.notices.count == 1)
    }

    @Test func theRemedyIsTheCallers() throws {
        let plan = try self.plan(.none, maxAge: "1d", age: 90_000, remedy: "start over")
        #expect(plan.notices[0].hasSuffix(": start over.") && plan.expiry?.hasSuffix("and may be 24 hours") == true)
        #expect(try self.plan(.once, maxAge: "1d", onExpired: .rerecord, age: 90_000).expiry == nil, "it is not replayed")
    }

    @Test func aRecordingHasNoAge() throws {
        #expect(try self.plan(.all, maxAge: "0s", onExpired: .fail, age: 90_000).notices == [])
    }
}
