import CassetteModel
@testable import CassettePlayback
import CassetteStore
import TapeTestSupport
import Testing

/// Rules that are added while a replay runs.
@Suite struct AddedRulesTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func cassette(_ urls: String..., method: String = "GET") throws -> RecordedCassette {
        let interactions = urls.enumerated().map { Interaction.sample($0.offset + 1, at: Int64($0.offset), method, $0.element) }
        try RecordedExchanges.write(interactions, to: self.folder.file("a.json"))
        return try RecordedCassette(path: self.folder.file("a.json"))
    }

    private func index(_ session: CassetteSession, _ url: String) throws -> Int? {
        let decision: Decision
        switch session.begin(method: "GET", url: url) {
        case .decided(let made): decision = made
        case .needsBody(let pending): decision = try session.resolve(pending, body: .none)
        }
        if case .replay(let index, _) = decision { return index }
        return nil
    }

    @Test func theNextRequestIsComparedByThem() throws {
        let cassette = try self.cassette("http://a/pets?ts=1", "http://a/owners?ts=1")
        let session = try CassetteSession(mode: .none, cassette: cassette)
        #expect(try self.index(session, "http://a/pets?ts=9") == nil)
        let next = try session.adding(MatchRuleTexts(ignore: ["query:ts"]), in: cassette)
        #expect(try self.index(next, "http://a/pets?ts=9") == 0)
        // The miss before stays one, and both sessions have one verdict.
        #expect(next.verdict().misses == 1 && session.verdict() == next.verdict())
        #expect(session.verdict().hits == 1 && session.verdict().unused == [1])
    }

    @Test func whatHasAnsweredDoesNotAnswerAgain() throws {
        let cassette = try self.cassette("http://a/pets?ts=1", "http://a/pets?ts=2")
        let session = try CassetteSession(mode: .none, cassette: cassette)
        #expect(try self.index(session, "http://a/pets?ts=1") == 0)
        let next = try session.adding(MatchRuleTexts(ignore: ["query:ts"]), in: cassette)
        #expect(try self.index(next, "http://a/pets?ts=1") == 1)
        #expect(try self.index(next, "http://a/pets?ts=1") == nil)
        #expect(next.verdict().hits == 2 && next.verdict().misses == 1 && next.verdict().unused.isEmpty)
    }

    @Test func aRequestThatHasBegunKeepsItsRules() throws {
        let cassette = try self.cassette("http://a/pets?ts=1")
        let session = try CassetteSession(mode: .none, cassette: cassette)
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a/pets?ts=9", hasBody: true) else {
            Issue.record("a refusal explains bodies, so it needs this one")
            return
        }
        let next = try session.adding(MatchRuleTexts(match: ["host"], ignore: ["query:ts"]), in: cassette)
        guard case .refuse = try next.resolve(pending, body: .none) else {
            Issue.record("the request was decided by rules that came after it")
            return
        }
        guard case .replay(index: 0, _) = try self.decision(next, "POST", "http://a/pets?ts=9") else {
            Issue.record("the rules do not apply")
            return
        }
    }

    private func decision(_ session: CassetteSession, _ method: String, _ url: String) throws -> Decision {
        switch session.begin(method: method, url: url, hasBody: true) {
        case .decided(let decision): decision
        case .needsBody(let pending): try session.resolve(pending, body: .none)
        }
    }

    @Test func aWrongRuleChangesNothing() throws {
        let cassette = try self.cassette("http://a/pets")
        let session = try CassetteSession(mode: .none, cassette: cassette)
        #expect(throws: MatchRuleError.self) { try session.adding(MatchRuleTexts(ignore: ["nonsense:x"]), in: cassette) }
        #expect(try self.index(session, "http://a/pets") == 0)
    }

    @Test func aPausedRecordingForwardsWithoutRecording() throws {
        let session = try CassetteSession(mode: .all)
        func records() -> Bool? {
            guard case .decided(.forward(let record)) = session.begin(method: "GET", url: "http://a/") else { return nil }
            return record
        }
        #expect(records() == true)
        session.pause(true)
        #expect(session.isPaused && records() == false && records() == false)
        session.pause(false)
        #expect(records() == true)
        #expect(session.verdict().forwarded == 4 && session.verdict().unrecorded == 2)
    }
}
