import Testing

@testable import CassettePlayback
@testable import TapeBytes

@Suite struct BodyGroupTests {
    private func group(_ list: ListedRequests) throws -> BodyGroup {
        var group = BodyGroup()
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
        #expect(group.assign(ListedRequests.facets("a"), &rule) == .first(index: 0, after: nil))
        #expect(group.assign(ListedRequests.facets("a"), &rule) == .first(index: 2, after: nil))
        #expect(!group.isReady(ListedRequests.facets("a"), rule))
        #expect(group.isReady(.none, rule))
        #expect(group.assign(ListedRequests.facets("z"), &rule) == .usedUp)
    }

    @Test func aCutBodyIsEqualToNone() throws {
        let group = try self.group(
            ListedRequests([.init(body: "a", isComplete: false), .init(body: "a"), .init(body: "b", hasMark: true)]))
        #expect(group.members(ListedRequests.facets("a")) == [1])
        #expect(group.inexact == [0, 2])
    }

    @Test func othersTakeTurnsOfTheirOwn() throws {
        var group = try self.group(ListedRequests(bodies: ["a", "b"]))
        var rule = AssignmentRule(isAnswerable: [true, true], repetition: .cycle)
        let answers = (0..<4).map { _ in group.assign(among: [0, 1], &rule) }
        #expect(answers == [.first(index: 0, after: nil), .first(index: 1, after: nil), .again(index: 0), .again(index: 1)])
    }
}
