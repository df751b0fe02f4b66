import CassetteModel
import Dispatch
import TapeBytes
import Testing
@testable import TrafficRules

/// Draws depend on what a request is, and on nothing else.
@Suite struct DrawPropertyTests {
    private static let rules = """
        - name: share
          when: "~u /share"
          fault: { kind: reset, share: 20%, after: 64KiB }
        - name: numbers
          when: "~m POST & ~u /numbers"
          fault: { status: 503, nth: [1, 3] }
        - name: slow
          when: "~u /slow"
          pace: { latency: 200ms, jitter: 100ms }
        - name: answer
          when: "~u /answer"
          share: 50%
          respond: { body: "{{json:/id}}" }
        - name: edit
          when: "~u /share"
          every: 2
          request: { set: { "header:a": b } }
        """

    /// What a plan says, without the order in which requests came.
    private static func text(_ plan: ExchangePlan?) -> String {
        guard let plan else { return "none" }
        let answer = plan.answer.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
        return "\(plan.names) \(plan.fault.map { "\($0.kind) \($0.draw)" } ?? "") \(plan.pace.map { "\($0.latency)" } ?? "") \(answer)"
    }

    private static func requests(_ count: Int, _ random: inout SplitMix64) -> [RequestFacts] {
        (0..<count).map { _ in
            let path = ["share", "numbers", "slow", "answer", "other"][Int(random.next() % 5)]
            let url = "https://a.example/\(path)?page=\(random.next() % 7)"
            return random.next() % 2 == 0 ? .get(url) : .post(url, "{\"id\":\(random.next() % 5)}")
        }
    }

    /// The plans of each request's equals, in the order of their numbers.
    private static func decisions(_ requests: [RequestFacts], seed: UInt64) throws -> [String: [String]] {
        let engine = try RulesText.engine(self.rules, seed: seed)
        var decisions: [String: [String]] = [:]
        for request in requests {
            let key = "\(request.method) \(request.url) \(String(decoding: request.body ?? [], as: UTF8.self))"
            decisions[key, default: []].append(self.text(engine.plan(for: request, now: .zero)))
        }
        return decisions
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func orderAndOtherRequestsChangeNothing(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let requests = Self.requests(1000, &random)
        let expected = try Self.decisions(requests, seed: seed)
        for _ in 0..<4 {
            let shuffled = requests.shuffled(using: &random)
            #expect(try Self.decisions(shuffled, seed: seed) == expected)
            // With as many others between them.
            let others = (0..<1000).map { RequestFacts.get("https://other.example/share?\($0)") }
            let mixed = try Self.decisions((requests + others).shuffled(using: &random), seed: seed)
            #expect(mixed.filter { !$0.key.contains("other.example") } == expected)
        }
        #expect(try Self.decisions(requests, seed: seed + 100) != expected)
    }

    @Test func threadsChangeNothing() async throws {
        var random = SplitMix64(seed: 11)
        let requests = Self.requests(1000, &random)
        let expected = try Self.decisions(requests, seed: 7).mapValues { $0.sorted() }
        for _ in 0..<3 {
            let engine = try RulesText.engine(Self.rules, seed: 7)
            let shuffled = requests.shuffled(using: &random)
            let plans = await withTaskGroup(of: [(String, String)].self) { group in
                for start in stride(from: 0, to: shuffled.count, by: 16) {
                    let share = Array(shuffled[start..<min(start + 16, shuffled.count)])
                    group.addTask {
                        share.map { request in
                            (
                                "\(request.method) \(request.url) \(String(decoding: request.body ?? [], as: UTF8.self))",
                                Self.text(engine.plan(for: request, now: .zero))
                            )
                        }
                    }
                }
                return await group.reduce(into: [String: [String]]()) { plans, list in
                    for (key, text) in list { plans[key, default: []].append(text) }
                }
            }
            #expect(plans.mapValues { $0.sorted() } == expected)
        }
    }

    /// The second of two requests at the same time is the second for all rules.
    @Test func rulesAgreeOnTheNumbersOfEqualRequests() throws {
        let engine = try RulesText.engine(
            """
            - request: { set: { "header:x-one": "1" } }
              every: 2
            - request: { set: { "header:x-two": "2" } }
              every: 2
            """)
        let split = Guarded(0)
        DispatchQueue.concurrentPerform(iterations: 40_000) { _ in
            let count = engine.plan(for: .get("https://a.example/"), now: .zero)?.rules.count ?? 0
            if count == 1 { split.withLock { $0 += 1 } }
        }
        #expect(split.withLock { $0 } == 0)
    }

    @Test func sharesAreThoseOfTheRule() throws {
        let count = 100_000
        let seed = DrawSeed(seed: 42, rule: "rule 1")
        // Most by number, some by URL.
        let one = DrawSeed.Identity(head: Array("GET https://a.example/".utf8), body: [])
        var draws = (1...count * 9 / 10).map { seed.draw("share", one, ordinal: $0) }
        for number in 0..<count / 10 {
            let other = DrawSeed.Identity(head: Array("GET https://a.example/\(number)".utf8), body: [])
            draws.append(seed.draw("share", other, ordinal: 1))
        }
        for (text, share) in [("0.1%", 0.001), ("1%", 0.01), ("5%", 0.05), ("33.3%", 0.333), ("50%", 0.5), ("95%", 0.95), ("99.9%", 0.999)]
        {
            let limit = try #require(Quantity.share(text))
            let taken = draws.count { limit.takes($0) }
            // Five standard deviations of a binomial distribution.
            let deviation = (Double(count) * share * (1 - share)).squareRoot()
            #expect(abs(Double(taken) - Double(count) * share) <= 5 * deviation, "\(text): \(taken)")
        }
        let (never, always) = (try #require(Quantity.share("0%")), try #require(Quantity.share("100%")))
        #expect(draws.allSatisfy { !never.takes($0) && always.takes($0) })
        #expect(!never.takes(0) && always.takes(.max))
    }

    @Test func neverIsNeverAndAlwaysIsAlways() throws {
        let never = try RulesText.engine("- fault: { status: 503, share: 0% }")
        let always = try RulesText.engine("- fault: { status: 503, share: 100% }")
        for number in 0..<2000 {
            let request = RequestFacts.get("https://a.example/\(number)")
            guard never.plan(for: request, now: .zero) == nil, always.plan(for: request, now: .zero)?.fault != nil else {
                Issue.record("a draw of request \(number) went wrong")
                return
            }
        }
    }

    /// Draws are part of what users rely on: the same file gives the same faults in the next version, too.
    @Test func drawsStayTheSameAcrossVersions() throws {
        let request = RequestFacts.post("https://a.example/pay?b=2&a=1", #"{"b": [1.0, "x"], "a": null}"#)
        let identity = DrawSeed.Identity(request, rules: .standard) { $0 }
        #expect(DrawSeed(seed: 0, rule: "rule 1").draw("share", identity, ordinal: 1) == 9_276_705_016_010_720_178)
        #expect(DrawSeed(seed: 1, rule: "pay").draw("latency", identity, ordinal: 2) == 10_232_076_727_891_827_895)
    }
}
