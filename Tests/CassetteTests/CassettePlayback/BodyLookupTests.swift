@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

@Suite struct BodyLookupTests {
    private func lookup(_ list: ListedRequests, _ session: CassetteSession, body: String?) throws -> BodyLookup {
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a.test/", hasBody: true) else {
            throw CassetteError(.damaged, "decided by its head")
        }
        return BodyLookup(session: session, source: list, pending: pending, key: pending.key ?? 0, body: ListedRequests.facets(body))
    }

    @Test func anEqualBodyIsFoundInBatches() throws {
        let list = ListedRequests(bodies: (0..<600).map { "\($0)" })
        let session = list.session()
        #expect(try self.lookup(list, session, body: "70").findEqual())
        #expect(list.reads.withLock { $0 } == BodyLookup.readAhead)
        #expect(try self.lookup(list, session, body: "270").findEqual())
        #expect(list.reads.withLock { $0 } == BodyLookup.readAhead + BodyLookup.batch)
        #expect(try !self.lookup(list, session, body: "none").findEqual())
        #expect(list.reads.withLock { $0 } == 600)
        #expect(try !self.lookup(list, session, body: "still none").findEqual())
        #expect(list.reads.withLock { $0 } == 600)
    }

    @Test func cutBodiesAreOthersAndEqualsAreNot() throws {
        let list = ListedRequests([
            .init(body: "a"), .init(body: "a", isComplete: false), .init(body: "b"), .init(body: "c", hasMark: true),
        ])
        let session = list.session()
        let lookup = try self.lookup(list, session, body: "z")
        #expect(try !lookup.findEqual())
        #expect(try lookup.others() == [1])
    }

    @Test func nothingIsNearWhereBodiesCannotBeRead() throws {
        let list = ListedRequests(bodies: ["a"])
        let session = list.session()
        let broken = ListedRequests([.init(body: "a")], unreadable: 0)
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a.test/", hasBody: true) else { return }
        let lookup = BodyLookup(session: session, source: broken, pending: pending, key: pending.key ?? 0, body: ListedRequests.facets("b"))
        #expect(lookup.nearest().isEmpty)
        #expect(throws: CassetteError.self) { try lookup.findEqual() }
    }
}

@Suite struct BodyGroupTests {
    private let live = LiveFields(method: "POST", HeaderFields(), rules: .standard)

    private func group(_ list: ListedRequests) throws -> BodyGroup {
        var group = BodyGroup(keepsTraits: true)
        for index in list.requests.indices {
            let request = try list.comparedRequest(
                at: index, rules: .standard, detail: .digests, redaction: nil, digest: { PortableSHA256() })
            group.append(request, index: index)
        }
        return group
    }

    @Test func equalBodiesAnswerInRecordedOrder() throws {
        var group = try self.group(ListedRequests(bodies: ["a", "b", "a", nil]))
        var rule = AssignmentRule(isAnswerable: Array(repeating: true, count: 4))
        #expect(group.seen == 4)
        #expect(group.members(ListedRequests.facets("a")) == [0, 2])
        #expect(group.assign(ListedRequests.facets("a"), self.live, &rule) == .first(index: 0, after: nil))
        #expect(group.assign(ListedRequests.facets("a"), self.live, &rule) == .first(index: 2, after: nil))
        let isReady = [ListedRequests.facets("a"), .none].map { group.isReady($0, self.live, rule, count: 4) }
        #expect(isReady == [false, true])
        #expect(group.assign(ListedRequests.facets("z"), self.live, &rule) == .usedUp)
    }

    @Test func aCutBodyIsEqualToNone() throws {
        let group = try self.group(
            ListedRequests([.init(body: "a", isComplete: false), .init(body: "a"), .init(body: "b", hasMark: true)]))
        #expect(group.members(ListedRequests.facets("a")) == [1])
        #expect(group.inexact(for: ListedRequests.facets("a")) == [0, 2])
    }

    @Test func othersTakeTurnsOfTheirOwn() throws {
        var group = try self.group(ListedRequests(bodies: ["a", "b"]))
        var rule = AssignmentRule(isAnswerable: [true, true], repetition: .cycle)
        let answers = (0..<4).map { _ in group.assign(among: [0, 1], self.live, &rule) }
        #expect(answers == [.first(index: 0, after: nil), .first(index: 1, after: nil), .again(index: 0), .again(index: 1)])
    }
}

@Suite struct BodySketchTests {
    private func facets(_ hashes: [UInt64]) -> BodyFacets {
        var facets = BodyFacets.none
        facets.facets = hashes.map {
            BodyFacet(place: .json, name: [], value: [], size: 0, filename: nil, type: [], hasMarks: false, hash: $0 << 58)
        }
        return facets
    }

    @Test func commonFacetsCancelOut() {
        let sketch = BodySketch(self.facets([1, 2, 3]))
        #expect(sketch.distance(to: sketch) == 0)
        #expect(sketch.distance(to: BodySketch(self.facets([3, 2, 4]))) == 2)
        #expect(sketch.distance(to: BodySketch(.none)) == 3)
    }
}

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

    @Test func differencesOfTheBodyAreReportedWithThoseOfTheHead() throws {
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

    @Test func aMissThatNoBodyCouldPreventIsReportedAtOnce() {
        let session = SentRequests(requests: [.init(method: "GET", url: "http://a.test/a")]).session()
        guard case .decided(.refuse(let report)) = session.begin(method: "GET", url: "http://a.test/b") else {
            Issue.record("not decided")
            return
        }
        #expect(report.nearest.count == 1)
    }

    /// A client that waits for a 100 before it sends its body does not have to send it for nothing.
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
