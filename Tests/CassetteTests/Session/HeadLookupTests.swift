import Testing

@testable import CassettePlayback

@Suite struct HeadLookupTests {
    private func post(_ url: String, _ body: String) -> SentRequests.Request { .init(url: url, lines: MatchFixture.json, body: body) }

    private func refusal(_ recorded: [SentRequests.Request], _ live: SentRequests.Request, hits: [SentRequests.Request] = []) throws
        -> MissReport?
    {
        let session = SentRequests(requests: recorded).session()
        for hit in hits { _ = try session.send(hit) }
        guard case .refuse(let report) = try session.send(live) else { return nil }
        #expect(session.verdict().misses == 1)
        return report
    }

    @Test func differencesOfTheBodyAreToldWithThoseOfTheHead() throws {
        let report = try self.refusal([self.post("http://a.test/?a=1", #"{"x":1}"#)], self.post("http://a.test/?a=2", #"{"x":2}"#))
        #expect(
            report?.nearest.first?.differences.map(\.description) == [
                "query item is \"a=2\", recorded is \"a=1\"", "JSON \"/x\" is 2, recorded is 1",
            ])
    }

    @Test func ofThoseWithOneHeadTheNearestBodyIsShown() throws {
        let recorded = [#"{"x":1,"y":1}"#, #"{"x":2,"y":1}"#, #"{"x":2,"y":2}"#].map { self.post("http://a.test/a", $0) }
        let report = try self.refusal(recorded, self.post("http://a.test/b", #"{"x":2,"y":2}"#))
        #expect(report?.nearest.map(\.index) == [2])
        #expect(report?.nearest.first?.differences.count == 1)
    }

    @Test func thoseThatAreUsedUpComeLast() throws {
        let recorded = [self.post("http://a.test/a", "{}"), self.post("http://a.test/a", "{}")]
        let report = try self.refusal(recorded, self.post("http://a.test/b", "{}"), hits: [recorded[0]])
        #expect(report?.nearest.map(\.index) == [1])
    }

    @Test func aRequestWithoutABodyLacksTheRecordedOne() throws {
        let report = try self.refusal(
            [self.post("http://a.test/a", "{}")], .init(url: "http://a.test/b"))
        #expect(report?.nearest.first?.differences.map(\.description).last == "body is empty, recorded is json")
    }

    @Test func aMissThatNoBodyCouldMendIsToldAtOnce() {
        let session = SentRequests(requests: [.init(method: "GET", url: "http://a.test/a")]).session()
        guard case .decided(.refuse(let report)) = session.begin(method: "GET", url: "http://a.test/b") else {
            Issue.record("not decided")
            return
        }
        #expect(report.nearest.count == 1)
    }

    /// A client that waits to be asked for its body is not made to send it for nothing.
    @Test func theBodyIsNotAskedFor() throws {
        let session = SentRequests(requests: [self.post("http://a.test/a", "{}")]).session()
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a.test/b", hasBody: true),
            case .refuse(let report)? = try session.decideUnasked(pending)
        else {
            Issue.record("not refused")
            return
        }
        #expect(report.nearest.first?.differences.count == 1)
    }

    @Test func bodiesThatCannotBeReadLeaveTheHead() throws {
        let list = ListedRequests([.init(body: "a")], unreadable: 0)
        guard case .refuse(let report) = try list.session().ask("POST", "http://a.test/b", body: "a") else {
            Issue.record("not refused")
            return
        }
        #expect(report.nearest.first?.differences.count == 1)
    }
}
