import TapeTestSupport
import Testing

@testable import CassettePlayback
@testable import CassetteStore

/// The ways in which a replay could wrongly report a clean run. Each test fails when its guard is removed.
@Suite struct FalseCleanTests {
    private func list(_ requests: [(method: String, url: String, body: String?)]) -> ListedRequests {
        ListedRequests(requests.map { .init(method: $0.method, url: "http://a.test" + $0.url, body: $0.body) })
    }

    private func isMiss(_ decision: Decision?) -> Bool {
        if case .refuse = decision { true } else { false }
    }

    @Test func theFirstRecordingIsNotServedForEver() {
        let session = self.list([("GET", "/", nil), ("GET", "/", nil)]).session()
        #expect(session.head("GET", "http://a.test/") == .replay(index: 0))
        #expect(session.head("GET", "http://a.test/") == .replay(index: 1))
    }

    @Test func aUsedUpExchangeIsNotServedAgain() {
        let session = self.list([("GET", "/", nil)]).session()
        _ = session.head("GET", "http://a.test/")
        #expect(self.isMiss(session.head("GET", "http://a.test/")))
        #expect(session.verdict().flaws == [.miss])
    }

    @Test func replayWithoutRequestsIsAFlaw() throws {
        let session = self.list([("GET", "/", nil), ("GET", "/b", nil)]).session()
        #expect(session.verdict().flaws == [.unused, .unasked])
        let report = session.report(name: "a.json", cassette: nil)
        #expect(
            report.flawLines(naming: [.unasked]) == [
                "unasked: no request came for the 2 exchanges in \"a.json\", so the replay proves nothing"
            ])
        #expect(String(decoding: report.junit(failOn: [.unasked]), as: UTF8.self).contains("type=\"unasked\""))
        _ = session.head("GET", "http://a.test/other")
        #expect(session.verdict().flaws == [.miss, .unused])
        #expect(self.list([]).session().verdict().flaws.isEmpty)
        #expect(self.list([("GET", "/", nil)]).session(.all).verdict().flaws.isEmpty)
    }

    @Test func replayWhoseRequestsWereAllAnsweredByRulesSaysSo() throws {
        let session = self.list([("GET", "/", nil), ("GET", "/b", nil)]).session()
        session.answeredByRule()
        session.answeredByRule()
        #expect(session.verdict().flaws == [.unused])
        var report = session.report(name: "a.json", cassette: nil)
        #expect(
            report.flawLines(naming: [.unasked]) == [
                "rules: traffic rules answered all 2 requests, so the replay proves nothing about the 2 exchanges in \"a.json\""
            ])
        #expect(report.numbers == "replayed 0 of 2 exchanges from a.json, 2 answered by rules, 2 unused")
        #expect(String(decoding: report.json, as: UTF8.self).contains("\"answeredByRules\": 2,"))
        let junit = String(decoding: report.junit(failOn: [.unasked]), as: UTF8.self)
        #expect(junit.contains("failures=\"0\"") && junit.contains("skipped message=\"traffic rules answered all 2 requests"), "\(junit)")
        _ = session.head("GET", "http://a.test/")
        report = session.report(name: "a.json", cassette: nil)
        #expect(report.flawLines(naming: [.unasked]) == [])
        #expect(report.numbers == "replayed 1 of 2 exchanges from a.json, 2 answered by rules, 1 unused")
    }

    @Test func aMissIsNotForwarded() {
        #expect(self.isMiss(self.list([("GET", "/", nil)]).session().head("GET", "http://a.test/new")))
        #expect(self.isMiss(self.list([("GET", "/", nil)]).session(.once).head("GET", "http://a.test/new")))
        #expect(self.isMiss(CassetteSession(mode: .none, keys: RecordedKeys(), hasCassette: false).head("GET", "http://a.test/")))
    }

    @Test func aMissOfABodyIsNotForwarded() throws {
        #expect(self.isMiss(try self.list([("POST", "/", "a")]).session(.once).ask(body: "b")))
    }

    @Test func anUnusedExchangeIsAFlaw() {
        let session = self.list([("GET", "/", nil), ("GET", "/b", nil)]).session()
        _ = session.head("GET", "http://a.test/")
        #expect(session.verdict().unused == [1] && session.verdict().flaws == [.unused])
    }

    @Test func anotherBodyIsAnotherRequest() throws {
        let session = self.list([("POST", "/", "a")]).session()
        #expect(self.isMiss(try session.ask(body: "b")))
        #expect(self.isMiss(try session.ask(body: nil)))
        #expect(session.verdict().unused == [0])
    }

    @Test func aBodyWhereNoneWasRecordedIsAnotherRequest() throws {
        #expect(self.isMiss(try self.list([("POST", "/", nil)]).session().ask(body: "b")))
    }

    @Test(arguments: ["/?a=2", "/?a=1&b=2", "/", "/?a=1&a=1", "/?A=1"])
    func anotherQueryIsAnotherRequest(url: String) {
        #expect(self.isMiss(self.list([("GET", "/?a=1", nil)]).session().head("GET", "http://a.test" + url)))
    }

    @Test(arguments: ["POST", "HEAD", "get", "GET2"])
    func anotherMethodIsAnotherRequest(method: String) {
        #expect(self.isMiss(self.list([("GET", "/", nil)]).session().head(method, "http://a.test/")))
    }

    @Test(arguments: ["https://a.test/", "http://b.test/", "http://a.test:81/", "http://a.test/x", "http://a.test//"])
    func anotherURLIsAnotherRequest(url: String) {
        #expect(self.isMiss(self.list([("GET", "/", nil)]).session().head("GET", url)))
    }

    @Test func strictOrderRefusesRequestsThatAreNotNext() {
        let session = self.list([("GET", "/a", nil), ("GET", "/b", nil)]).session(order: .strict)
        #expect(self.isMiss(session.head("GET", "http://a.test/b")))
        #expect(session.verdict().flaws == [.unused, .order])
    }

    @Test func strictOrderRefusesAndDoesNotForward() {
        let session = self.list([("GET", "/a", nil), ("GET", "/b", nil)]).session(.newEpisodes, order: .strict)
        #expect(self.isMiss(session.head("GET", "http://a.test/b")))
    }

    @Test func aLateExchangeIsAFlaw() {
        let session = self.list([("GET", "/a", nil), ("GET", "/b", nil)]).session()
        _ = session.head("GET", "http://a.test/b")
        _ = session.head("GET", "http://a.test/a")
        #expect(session.verdict().flaws == [.order])
    }

    @Test func missesPastTheLimitOfReportsAreCounted() {
        let session = self.list([("GET", "/", nil)]).session()
        for index in 0..<CassetteSession.reportLimit + 5 { _ = session.head("GET", "http://a.test/\(index)x") }
        let verdict = session.verdict()
        #expect(verdict.misses == CassetteSession.reportLimit + 5 && verdict.unreportedMisses == 5)
    }

    @Test func anAnswerThatCouldNotBeReadIsNoHit() {
        let session = self.list([("GET", "/", nil)]).session()
        _ = session.head("GET", "http://a.test/")
        session.couldNotServe(0, problem: "its file is missing")
        #expect(session.verdict().hits == 0 && session.verdict().flaws == [.unserved])
    }

    @Test func aTunnelIsNotOpenedWhereNothingIsForwarded() {
        let session = self.list([("CONNECT", "/", nil), ("GET", "/", nil)]).session()
        #expect(self.isMiss(session.beginTunnel(to: "https://a.test/")))
        #expect(session.verdict().misses == 1)
    }

    @Test func aFailedTunnelAnswersNoRequest() throws {
        let rules = try MatchRules(match: ["host", "path"])
        let session = self.list([("CONNECT", "/", nil)]).session(rules: rules)
        #expect(self.isMiss(session.head("GET", "http://a.test/")))
    }

    @Test func aDamagedCassetteIsNotWhole() throws {
        let folder = try TemporaryFolder()
        let whole = SampleCassette.document([])
        let path = try folder.write(Array(whole.dropLast(4)), to: "a.json")
        let session = try CassetteSession(mode: .none, cassette: RecordedCassette(path: path))
        #expect(session.verdict().flaws == [.damage])
    }

    @Test func anAbandonedBodyIsNoHit() {
        let session = self.list([("POST", "/", "a")]).session()
        _ = session.begin(method: "POST", url: "http://a.test/", hasBody: true)
        #expect(session.verdict().hits == 0 && session.verdict().unused == [0])
    }
}
