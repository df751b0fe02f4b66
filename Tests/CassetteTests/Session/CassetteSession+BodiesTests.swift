import Dispatch
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import TapeBytes

@Suite struct CassetteSessionBodiesTests {
    private func indexes(_ session: CassetteSession, _ bodies: [String?]) throws -> [Int?] {
        try bodies.map { body in
            guard case .replay(let index) = try session.ask(body: body) else { return nil }
            return index
        }
    }

    @Test func theBodyDecidesAmongEqualHeads() throws {
        let session = ListedRequests(bodies: ["a", "b", nil, "a"]).session()
        #expect(try self.indexes(session, ["b", "a", nil, "a", "a", "c"]) == [1, 0, 2, 3, nil, nil])
        let verdict = session.verdict()
        #expect(verdict.hits == 4 && verdict.misses == 2 && verdict.unused.isEmpty)
        #expect(verdict.reports.map(\.reason) == [.usedUp(count: 2), .notRecorded])
    }

    @Test func absentAndEmptyBodiesAreEqual() throws {
        let session = ListedRequests(bodies: ["", nil]).session()
        #expect(try self.indexes(session, [nil, ""]) == [0, 1])
    }

    @Test func withoutAnyBodyTheHeadDecides() {
        let session = ListedRequests(bodies: [nil, nil]).session()
        #expect(session.head("POST", "http://a.test/") == .replay(index: 0))
        guard case .needsBody = session.begin(method: "POST", url: "http://a.test/", hasBody: true) else {
            Issue.record("a body was overlooked")
            return
        }
    }

    @Test func aPendingRequestHoldsNoExchange() throws {
        let session = ListedRequests(bodies: ["a"]).session()
        _ = session.begin(method: "POST", url: "http://a.test/", hasBody: true)
        #expect(session.verdict() == Verdict(unused: [0]))
        #expect(try session.ask(body: "a") == .replay(index: 0))
    }

    @Test func bodiesAreReadNoFurtherThanNeeded() throws {
        let list = ListedRequests(bodies: (0..<1_000).map { "body \($0)" })
        let session = list.session()
        #expect(try session.ask(body: "body 0") == .replay(index: 0))
        #expect(list.reads.withLock { $0 } == BodyLookup.batch)
        // The next ones are known without another look.
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a.test/", hasBody: true) else { return }
        #expect(session.decide(pending, body: ListedRequests.facets("body 1")) == .replay(index: 1))
        #expect(session.decide(pending, body: ListedRequests.facets("body 999")) == nil)
        #expect(try session.resolve(pending, body: ListedRequests.facets("body 999")) == .replay(index: 999))
    }

    @Test func aCutRequestAnswersWhenNoWholeOneIsLeft() throws {
        let list = ListedRequests([.init(body: "cut", isComplete: false), .init(body: "a"), .init(url: "http://a.test/b", body: "a")])
        let session = list.session()
        #expect(try self.indexes(session, ["a", "a", "a"]) == [1, 0, nil])
        // A request without a body is not one that was cut.
        #expect(try self.indexes(list.session(), [nil]) == [nil])
    }

    @Test func aBodyThatCannotBeReadIsAnErrorAndNoMiss() throws {
        let session = ListedRequests([.init(body: "a"), .init(body: "b")], unreadable: 1).session()
        #expect(try session.ask(body: "a") == .replay(index: 0))
        #expect(throws: CassetteError.self) { try session.ask(body: "a") }
        #expect(session.verdict().misses == 0 && session.verdict().hits == 1)
    }

    @Test func whereMissesGoOnNothingIsExplained() throws {
        let list = ListedRequests(bodies: ["a", "b"])
        let session = list.session(.newEpisodes)
        #expect(try session.ask(body: "c") == .forward(record: true))
        #expect(list.reads.withLock { $0 } == 2)
        #expect(session.verdict().forwarded == 1)
    }

    @Test func customRulesAreAskedLast() throws {
        var rules = MatchRules.standard
        rules.custom = [CustomMatch("even") { recorded, _ in recorded.url.isEmpty ? nil : "never" }]
        let refusing = ListedRequests(bodies: ["a", nil]).session(rules: rules)
        #expect(try self.indexes(refusing, ["a", nil]) == [nil, nil])
        rules.custom = [CustomMatch("any") { _, live in live.body == BodyFacets.none ? "no body" : nil }]
        let asking = ListedRequests(bodies: ["a", nil, "a"]).session(rules: rules)
        #expect(try self.indexes(asking, ["a", nil, "a", "a"]) == [0, nil, 2, nil])
    }

    @Test func repetitionAndStrictOrderCountForBodiesToo() throws {
        let last = ListedRequests(bodies: ["a", "b", "a"]).session(repetition: .last)
        #expect(try self.indexes(last, ["a", "a", "a", "b"]) == [0, 2, 2, 1])
        let strict = ListedRequests(bodies: ["a", "b", "a"]).session(order: .strict)
        #expect(try self.indexes(strict, ["b", "a", "a", "b", "a"]) == [nil, 0, nil, 1, 2])
        let verdict = strict.verdict()
        #expect(verdict.orderViolations == 2 && verdict.misses == 0 && verdict.hits == 3)
        #expect(verdict.violations.map(\.isRefused) == [true, true])
        #expect(verdict.violations.map(\.other) == [0, 1])
    }

    @Test(arguments: [UInt64(1), 2, 3, 4], [Repetition.never, .last, .cycle])
    func anyTimingGivesTheSameAnswers(seed: UInt64, repetition: Repetition) throws {
        var generator = SeededGenerator(seed: seed)
        func random(_ count: Int) -> [ListedRequests.Request] {
            (0..<count).map { _ in
                let body = Int.random(in: 0..<4, using: &generator)
                return .init(
                    method: Bool.random(using: &generator) ? "POST" : "PUT",
                    url: "http://a.test/\(Int.random(in: 0..<6, using: &generator))",
                    body: body == 0 ? nil : "body \(body)")
            }
        }
        let list = ListedRequests(random(400))
        let requests = random(700)
        let alone = list.session(repetition: repetition)
        let expected = try Self.answers(requests.map { try Self.number(alone.ask($0.method, $0.url, body: $0.body)) })
        for threads in [1, 4, 16, 64] {
            let shuffled = requests.shuffled(using: &generator)
            let session = list.session(repetition: repetition)
            let gathered = Guarded<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                var numbers: [Int] = []
                for index in stride(from: thread, to: shuffled.count, by: threads) {
                    let request = shuffled[index]
                    numbers.append((try? Self.number(session.ask(request.method, request.url, body: request.body))) ?? -2)
                }
                gathered.withLock { $0 += numbers }
            }
            #expect(Self.answers(gathered.withLock { $0 }) == expected)
            let verdict = session.verdict()
            let wanted = alone.verdict()
            #expect(verdict.hits == wanted.hits && verdict.misses == wanted.misses && verdict.unused == wanted.unused)
            #expect(verdict.repeatedHits == wanted.repeatedHits)
        }
    }

    private static func number(_ decision: Decision) -> Int {
        if case .replay(let index) = decision { index } else { -1 }
    }

    private static func answers(_ numbers: [Int]) -> [Int: Int] { Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +) }
}
