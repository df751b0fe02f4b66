import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes

@Suite struct BodyLookupTests {
    private func lookup(_ list: ListedRequests, _ session: CassetteSession, body: String?) throws -> BodyLookup {
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a.test/", hasBody: true) else {
            throw CassetteError(.damaged, "decided by its head")
        }
        return BodyLookup(session: session, source: list, pending: pending, key: pending.key ?? 0, body: ListedRequests.facets(body))
    }

    @Test func anEqualBodyIsFoundInBatches() throws {
        let list = ListedRequests(bodies: (0..<150).map { "\($0)" })
        let session = list.session()
        #expect(try self.lookup(list, session, body: "70").findEqual())
        #expect(list.reads.withLock { $0 } == 2 * BodyLookup.batch)
        #expect(try !self.lookup(list, session, body: "none").findEqual())
        #expect(list.reads.withLock { $0 } == 150)
        #expect(try !self.lookup(list, session, body: "still none").findEqual())
        #expect(list.reads.withLock { $0 } == 150)
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
