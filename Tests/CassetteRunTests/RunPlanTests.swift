import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteRun
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct RunPlanTests {
    private let folder: TemporaryFolder
    private let cassette: String
    /// The start of its only exchange, in seconds since 1970.
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

    private func plan(
        _ mode: RecordMode, age: Int64 = 0, file: String? = nil, _ change: (inout RunPlan.Options) throws -> Void = { _ in }
    ) throws -> RunPlan {
        var options = RunPlan.Options()
        options.mayRerecord = true
        try change(&options)
        return try RunPlan(
            file ?? self.cassette, mode: mode, options: options, now: Timestamp(microseconds: (Self.start + age) * 1_000_000))
    }

    private func plan(_ mode: RecordMode, maxAge: String, _ onExpired: ExpiryPolicy = .warn, age: Int64) throws -> RunPlan {
        try self.plan(mode, age: age) {
            $0.maxAge = try Age(maxAge)
            $0.onExpired = onExpired
        }
    }

    private func head(_ plan: RunPlan) -> [String] { plan.recording.headMembers.map { String(decoding: $0.json, as: UTF8.self) } }

    @Test func aReplayComparesByTheCassettesRulesAndThoseGiven() throws {
        let plan = try self.plan(.none) { $0.matchTexts.ignore = ["query:given"] }
        #expect(plan.rules.texts.ignore == ["query:own", "query:given"])
        #expect(plan.cassette?.count == 1 && plan.notices == [] && plan.recording.headMembers == [])
    }

    @Test func aNewCassetteKeepsTheRulesGiven() throws {
        let new = self.folder.file("new.json")
        let plan = try self.plan(.once, file: new) { $0.matchTexts.ignore = ["query:given"] }
        #expect(plan.cassette == nil)
        #expect(self.head(plan) == [#"{ "ignore": ["query:given"] }"#])
        #expect(try self.plan(.once, file: new).recording.headMembers == [])
    }

    @Test func aCassetteThatTakesAnothersPlaceKeepsItsRules() throws {
        let plan = try self.plan(.all) { $0.matchTexts.ignore = ["query:given", "query:own"] }
        #expect(self.head(plan) == [#"{ "ignore": ["query:own", "query:given"] }"#])
    }

    @Test func aCassetteThatTakesAnothersPlaceKeepsItsRulesOfRedaction() throws {
        let given = try RedactionRules(rules: ["header:x-given"])
        func rules(_ mode: RecordMode, file: String? = nil) throws -> [String]? {
            try self.plan(mode, file: file) { $0.redaction = given }.redaction?.rules.map(\.text)
        }
        #expect(try rules(.all) == ["json:/own", "header:x-given"])
        for mode in [RecordMode.none, .once, .newEpisodes] { #expect(try rules(mode) == ["header:x-given"]) }
        #expect(try rules(.all, file: self.folder.file("new.json")) == ["header:x-given"])
        let rerecorded = try self.plan(.once, maxAge: "1d", .rerecord, age: 90_000)
        #expect(rerecorded.redaction?.rules.map(\.text) == ["json:/own"])
        #expect(try self.plan(.all) { $0.redaction = nil }.redaction == nil, "secrets are kept all the same")
    }

    @Test func liveRequestsAreRedactedIfTheCassetteIs() throws {
        #expect(try self.plan(.none).liveRedactor != nil)
        #expect(try self.plan(.none) { $0.redaction = nil }.liveRedactor != nil)
        #expect(try self.plan(.all).liveRedactor == nil, "nothing is replayed")
        try self.folder.write(Array(#"{ "wiretape": 1, "interactions": [] }"#.utf8), to: "plain.json")
        #expect(try self.plan(.none, file: self.folder.file("plain.json")).liveRedactor == nil)
    }

    @Test func customMatchesAreAmongTheRules() throws {
        let plan = try self.plan(.none) { $0.customMatches = [CustomMatch("never") { _, _ in "never" }] }
        #expect(plan.rules.custom.count == 1)
    }

    // MARK: Dates

    @Test func datesStayUnlessTheyAreToMove() throws {
        #expect(try self.plan(.none).refresh == nil)
        #expect(throws: MatchRuleError.self) { try self.plan(.none) { $0.refreshedFields = ["header:date"] } }
    }

    @Test func datesMoveFromTheFirstExchangeToTheReplay() throws {
        let plan = try self.plan(.none, age: 60) { $0.refreshedFields = ["json:/at"] }
        let start = Timestamp(microseconds: Self.start * 1_000_000)
        let shift = DateShift(from: start, to: Timestamp(microseconds: (Self.start + 60) * 1_000_000))
        #expect(plan.refresh == DateRefresh(try RefreshRules(["json:/at"]), shift: shift))
    }

    @Test func withoutACassetteNoDateMoves() throws {
        let now = Timestamp(microseconds: Self.start * 1_000_000)
        let plan = try self.plan(.once, file: self.folder.file("new.json")) { $0.refreshedFields = [] }
        #expect(plan.refresh == DateRefresh(.standard, shift: DateShift(from: now, to: now)))
    }

    // MARK: Age

    @Test(arguments: [86_400, 86_399, 0] as [Int64])
    func aCassetteMayBeAsOldAsItMayBe(_ age: Int64) throws {
        #expect(try self.plan(.none, maxAge: "1d", .fail, age: age).notices == [])
    }

    @Test func anOlderOneIsWarnedOf() throws {
        let plan = try self.plan(.none, maxAge: "1d", age: 3 * 86_400)
        #expect(plan.cassette != nil)
        #expect(
            plan.notices.count == 1
                && plan.notices[0].hasPrefix("the cassette \"\(self.cassette)\" is 3 days old, which is more than the allowed 24 hours"))
    }

    @Test func anOlderOneFailsWhereItIsTo() throws {
        let error = #expect(throws: RunPlan.Expired.self) { try self.plan(.none, maxAge: "1d", .fail, age: 86_401) }
        #expect(error?.message.contains("wiretape record \(self.cassette)") == true)
    }

    @Test func anOlderOneIsRecordedAgainIfThatIsPossible() throws {
        let plan = try self.plan(.once, maxAge: "1d", .rerecord, age: 90_000)
        #expect(plan.cassette == nil && plan.recording.mode == .all && plan.recording.target == .replace)
        #expect(plan.notices.count == 1)
        let replay = try self.plan(.none, age: 90_000) {
            $0.maxAge = try Age("1d")
            $0.onExpired = .rerecord
            $0.mayRerecord = false
        }
        #expect(replay.cassette != nil && replay.recording.mode == .none && replay.notices.count == 1)
    }

    @Test func theRemedyIsTheCallers() throws {
        let plan = try self.plan(.none, age: 90_000) {
            $0.maxAge = try Age("1d")
            $0.remedy = "start over"
        }
        #expect(plan.notices[0].hasSuffix(": start over.") && plan.expiry?.hasSuffix("more than the allowed 24 hours") == true)
        #expect(try self.plan(.once, maxAge: "1d", .rerecord, age: 90_000).expiry == nil, "it is not replayed")
    }

    @Test func aRecordingHasNoAge() throws {
        #expect(try self.plan(.all, maxAge: "0s", .fail, age: 90_000).notices == [])
    }
}
