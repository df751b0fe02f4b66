@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
import Dispatch
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct CassetteSessionTests {
    /// A decision without the report's text.
    private enum Answer: Hashable, Comparable {
        case replay(Int), forward, record, allowPreflight
        case refuseNoCassette, refuseNotRecorded, refuseUsedUp, refuseOtherMessages, refuseOutOfOrder, needsBody

        init(_ decision: Decision?) {
            switch decision {
            case nil: self = .needsBody
            case .replay(let index, _): self = .replay(index)
            case .forward(let record): self = record ? .record : .forward
            case .allowPreflight: self = .allowPreflight
            case .refuse(let report):
                switch report.reason {
                case .noCassette: self = .refuseNoCassette
                case .clientStayed, .recorderEnded, .codingNotAccepted, .switchedProtocols, .otherServer, .misdirected, .ownAnswer,
                    .malformed:
                    self = .refuseUsedUp
                case .notRecorded: self = .refuseNotRecorded
                case .usedUp: self = .refuseUsedUp
                case .otherMessages: self = .refuseOtherMessages
                case .outOfOrder: self = .refuseOutOfOrder
                }
            }
        }
    }

    private func session(
        _ mode: RecordMode, _ paths: [String], hasCassette: Bool = true, repetition: Repetition = .never
    ) -> CassetteSession {
        let keys = RecordedKeys(paths.map { ("GET", "http://a.test" + $0) })
        return CassetteSession(mode: mode, keys: keys, hasCassette: hasCassette, repetition: repetition)
    }

    private func ask(_ session: CassetteSession, _ paths: String...) -> [Answer] {
        paths.map { Answer(session.head("GET", "http://a.test" + $0)) }
    }

    @Test func permissionsAreKnownBeforeAnyRequest() {
        typealias Wanted = (mode: RecordMode, hasCassette: Bool, looksUp: Bool, mayForward: Bool)
        let table: [Wanted] = [
            (.none, true, true, false), (.none, false, false, false), (.once, true, true, false), (.once, false, false, true),
            (.newEpisodes, true, true, true), (.newEpisodes, false, false, true), (.all, true, false, true), (.all, false, false, true),
            (.passthrough, true, false, true), (.passthrough, false, false, true),
        ]
        for (mode, hasCassette, looksUp, mayForward) in table {
            let session = self.session(mode, ["/a"], hasCassette: hasCassette)
            #expect(session.looksUp == looksUp, "\(mode), cassette: \(hasCassette)")
            #expect(session.mayForward == mayForward, "\(mode), cassette: \(hasCassette)")
            // An unrecorded request is forwarded exactly where that is allowed.
            let isForwarded = self.ask(session, "/new").contains { $0 == .forward || $0 == .record }
            #expect(isForwarded == mayForward, "\(mode), cassette: \(hasCassette)")
        }
    }

    private struct Row: Sendable, CustomTestStringConvertible {
        var mode: RecordMode
        var noCassette, hit, usedUp, miss: Answer
        var testDescription: String { self.mode.rawValue }
    }

    private static let table = [
        Row(mode: .none, noCassette: .refuseNoCassette, hit: .replay(0), usedUp: .refuseUsedUp, miss: .refuseNotRecorded),
        Row(mode: .once, noCassette: .record, hit: .replay(0), usedUp: .refuseUsedUp, miss: .refuseNotRecorded),
        Row(mode: .newEpisodes, noCassette: .record, hit: .replay(0), usedUp: .record, miss: .record),
        Row(mode: .all, noCassette: .record, hit: .record, usedUp: .record, miss: .record),
        Row(mode: .passthrough, noCassette: .forward, hit: .forward, usedUp: .forward, miss: .forward),
    ]

    @Test(arguments: Self.table)
    private func modesFollowTheTable(row: Row) {
        #expect(self.ask(self.session(row.mode, ["/x"], hasCassette: false), "/x", "/x") == [row.noCassette, row.noCassette])
        #expect(self.ask(self.session(row.mode, ["/x"]), "/x", "/x", "/y") == [row.hit, row.usedUp, row.miss])
    }

    @Test func aTunnelThatFailedIsNeitherUnusedNorNear() throws {
        let keys = RecordedKeys([("CONNECT", "https://a.test/x"), ("GET", "https://a.test/x"), ("CONNECT", "https://a.test/x")])
        let session = CassetteSession(mode: .none, keys: keys, hasCassette: true)
        #expect(session.verdict().unused == [1])
        guard case .refuse(let report) = session.head("POST", "https://a.test/x") else {
            Issue.record("nothing was recorded for POST")
            return
        }
        #expect(report.nearest.map(\.index) == [1])
        #expect(session.head("GET", "https://a.test/x") == .replay(index: 1))
        #expect(session.verdict().unused.isEmpty)
    }

    @Test func aRecordingThatIsFullForwardsTheRest() throws {
        let session = try CassetteSession(mode: .all)
        session.limitRecording(to: 2)
        let decisions = (1...4).map { session.begin(method: "GET", url: "http://a.test/\($0)") }
        let recorded = decisions.map { if case .decided(.forward(let record)) = $0 { record } else { nil } as Bool? }
        #expect(recorded == [true, true, false, false])
        #expect(session.verdict().forwarded == 4 && session.verdict().unrecorded == 2)
    }

    @Test func anEmptyCassetteIsACassette() {
        #expect(self.ask(self.session(.once, []), "/x") == [.refuseNotRecorded])
    }

    @Test func equalRequestsAreAnsweredInRecordedOrder() {
        let session = self.session(.none, ["/x", "/y", "/x", "/x", "/y"])
        #expect(self.ask(session, "/x", "/x", "/y", "/x", "/y") == [0, 2, 1, 3, 4].map { .replay($0) })
    }

    @Test(arguments: [RecordMode.none, .once, .newEpisodes])
    func usedUpRequestsRepeatTheLastOrCycle(mode: RecordMode) {
        let last = self.session(mode, ["/x", "/y", "/x"], repetition: .last)
        #expect(self.ask(last, "/x", "/x", "/x", "/x") == [0, 2, 2, 2].map { .replay($0) })
        #expect(last.verdict().repeatedHits == 2)
        let cycle = self.session(mode, ["/x", "/y", "/x"], repetition: .cycle)
        #expect(self.ask(cycle, "/x", "/x", "/x", "/x", "/x") == [0, 2, 0, 2, 0].map { .replay($0) })
        #expect(cycle.verdict().unused == [1])
    }

    @Test func allFormsOfARequestGetTheSameAnswers() {
        let session = self.session(.none, ["/x", "/x", "/x"])
        #expect(session.head("GET", "HTTP://A.test:80/x") == .replay(index: 0))
        #expect(session.head("GET", "http://a.test/%78") == .replay(index: 1))
        #expect(session.head("GET", "http://a.test/x#y") == .replay(index: 2))
    }

    @Test func theVerdictCountsAllOutcomes() {
        let session = self.session(.none, ["/x", "/y", "/x", "/z"])
        _ = self.ask(session, "/x", "/missing", "/z")
        let verdict = session.verdict()
        #expect(verdict.hits == 2 && verdict.misses == 1 && verdict.forwarded == 0 && verdict.repeatedHits == 0)
        #expect(verdict.unused == [1, 2])
        #expect(verdict.reports.map(\.request) == ["GET http://a.test/missing"])
    }

    @Test func modesThatReplayNothingLeaveNothingUnused() {
        let session = self.session(.all, ["/x"])
        _ = self.ask(session, "/x", "/y")
        #expect(session.verdict() == Verdict(forwarded: 2))
    }

    @Test func reportsAreBoundedAndTheRestIsCounted() {
        let session = self.session(.none, ["/x"])
        for index in 0..<CassetteSession.reportLimit + 7 { _ = self.ask(session, "/missing/\(index)") }
        let verdict = session.verdict()
        #expect(verdict.misses == CassetteSession.reportLimit + 7)
        #expect(verdict.reports.count == CassetteSession.reportLimit)
        #expect(verdict.unreportedMisses == 7)
    }

    @Test(arguments: [RecordMode.none, .newEpisodes], [UInt64(11), 12, 13])
    func anyInterleavingGivesTheSameAnswers(mode: RecordMode, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let recorded = (0..<600).map { _ in "/\(Int.random(in: 0..<60, using: &generator))" }
        let requests = (0..<900).map { _ in "/\(Int.random(in: 0..<70, using: &generator))" }
        let alone = self.session(mode, recorded)
        let expected = requests.map { self.ask(alone, $0)[0] }.sorted()

        for threads in [2, 8, 16] {
            let shuffled = requests.shuffled(using: &generator)
            let session = self.session(mode, recorded)
            let gathered = Guarded<[[(path: String, answer: Answer)]]>([])
            DispatchQueue.concurrentPerform(iterations: threads) { thread in
                var answers: [(path: String, answer: Answer)] = []
                for index in stride(from: thread, to: shuffled.count, by: threads) {
                    answers.append((shuffled[index], self.ask(session, shuffled[index])[0]))
                }
                gathered.withLock { $0.append(answers) }
            }
            let perThread = gathered.withLock { $0 }
            #expect(perThread.joined().map(\.answer).sorted() == expected)
            self.expectEachOnceAndInOrder(perThread, recorded)
            #expect(session.verdict().unused == alone.verdict().unused)
            #expect(session.verdict().hits == alone.verdict().hits)
        }
    }

    private func expectEachOnceAndInOrder(_ perThread: [[(path: String, answer: Answer)]], _ recorded: [String]) {
        var seen: Set<Int> = []
        for answers in perThread {
            var last: [String: Int] = [:]
            for (path, answer) in answers {
                guard case .replay(let index) = answer else { continue }
                #expect(recorded[index] == path)
                #expect(seen.insert(index).inserted, "exchange \(index) was handed out twice")
                #expect(index > last[path] ?? -1, "exchange \(index) came out of order")
                last[path] = index
            }
        }
        // The answered requests of a key are the first recorded ones, in order.
        for path in Set(recorded) {
            let indexes = recorded.indices.filter { recorded[$0] == path }
            let used = indexes.filter { seen.contains($0) }
            #expect(used == Array(indexes.prefix(used.count)))
        }
    }

    @Test func conditionsAreComparedOnTheDayOfTheRecording() throws {
        let rules = try MatchRules.standard.adding(MatchRuleTexts(match: ["method", "url", "header:if-modified-since"]))
        let recorded = "If-Modified-Since: Sat, 21 Nov 2026 04:19:28 GMT"
        let refreshed = "If-Modified-Since: Sun, 22 Nov 2026 04:19:28 GMT"
        func answer(_ line: String, _ dates: LiveDates?) throws -> Answer {
            var keys = RecordedKeys()
            rules.withHeadKey(method: "GET", url: "http://a.test/", headers: HeaderFields([recorded])) { keys.append($0) }
            let session = CassetteSession(mode: .none, keys: keys, hasCassette: true, rules: rules, dates: dates)
            guard
                case .decided(let decision) = session.begin(method: "GET", url: "http://a.test/", headers: HeaderFields([line]))
            else { return .needsBody }
            return Answer(decision)
        }
        let dates = LiveDates(DateShift(seconds: 86_400))
        #expect(try answer(refreshed, dates) == .replay(0))
        #expect(try answer(refreshed, nil) == .refuseNotRecorded)
        // A validator of the client itself, with the recorded value.
        #expect(try answer(recorded, dates) == .replay(0))
        #expect(try answer("If-Modified-Since: Mon, 23 Nov 2026 04:19:28 GMT", dates) == .refuseNotRecorded)
    }
}

@Suite struct CassetteSessionBodiesTests {
    private func indexes(_ session: CassetteSession, _ bodies: [String?]) throws -> [Int?] {
        try bodies.map { body in
            guard case .replay(let index, _) = try session.ask(body: body) else { return nil }
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
        #expect(list.reads.withLock { $0 } == BodyLookup.readAhead)
        // The next ones need no further lookup.
        guard case .needsBody(let pending) = session.begin(method: "POST", url: "http://a.test/", hasBody: true) else { return }
        #expect(session.decide(pending, body: ListedRequests.facets("body 1")) == .replay(index: 1))
        #expect(session.decide(pending, body: ListedRequests.facets("body 999")) == nil)
        #expect(try session.resolve(pending, body: ListedRequests.facets("body 999")) == .replay(index: 999))
    }

    @Test func aTruncatedRequestAnswersWhenNoCompleteOneIsLeft() throws {
        let list = ListedRequests([.init(body: "cut", isComplete: false), .init(body: "a"), .init(url: "http://a.test/b", body: "a")])
        let session = list.session()
        #expect(try self.indexes(session, ["a", "a", "a"]) == [1, 0, nil])
        // A request without a body differs from one with a truncated body.
        #expect(try self.indexes(list.session(), [nil]) == [nil])
    }

    @Test func aBodyThatCannotBeReadIsAnErrorAndNoMiss() throws {
        let session = ListedRequests([.init(body: "a"), .init(body: "b")], unreadable: 1).session()
        #expect(try session.ask(body: "a") == .replay(index: 0))
        #expect(throws: CassetteError.self) { try session.ask(body: "a") }
        #expect(session.verdict().misses == 0 && session.verdict().hits == 1)
    }

    @Test func forwardedMissIsNotExplained() throws {
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
        if case .replay(let index, _) = decision { index } else { -1 }
    }

    private static func answers(_ numbers: [Int]) -> [Int: Int] { Dictionary(numbers.map { ($0, 1) }, uniquingKeysWith: +) }
}

@Suite struct CassetteSessionReportTests {
    @Test func tellsOfEachExchangeHowOftenItAnswered() {
        let keys = RecordedKeys([("GET", "http://a.test/a"), ("CONNECT", "https://a.test/"), ("GET", "http://a.test/b")])
        let session = CassetteSession(mode: .none, keys: keys, hasCassette: true, repetition: .last, order: .strict)
        _ = session.head("GET", "http://a.test/a")
        _ = session.head("GET", "http://a.test/a")
        let report = session.report(name: "a\u{1B}.json", cassette: nil)
        #expect(report.exchanges.map(\.answers) == [2, nil, 0])
        #expect(report.exchanges.map(\.request) == ["GET http://a.test/a", "CONNECT", "GET http://a.test/b"])
        #expect(report.exchanges.map(\.id) == [1, 2, 3])
        #expect(report.verdict == session.verdict() && report.order == .strict && report.repetition == .last)
        #expect(!report.cassette.contains("\u{1B}"))
    }
}

@Suite struct CassetteSessionUnaskedTests {
    @Test func withoutACassetteTheBodyIsNeeded() throws {
        let head = Array("POST http://h:80/".utf8)
        let session = try CassetteSession(mode: .none)
        let pending = PendingRequest(
            session: session, method: "POST", url: "http://h/", headers: HeaderFields(), comparedHeaders: HeaderFields(), rules: .standard,
            redaction: nil,
            head: head, key: 0, fields: LiveFields(method: "POST", HeaderFields(), rules: .standard), digest: { PortableSHA256() })
        #expect(try session.decideUnasked(pending) == nil)
    }

    @Test func anUnsentBodyIsNoBodyOfAny() {
        #expect(BodyFacets.unsent != .none)
        #expect(BodyFacets.unsent.count == 0)
    }
}
