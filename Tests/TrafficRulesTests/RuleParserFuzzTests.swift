import TapeBytes
import Testing
@testable import TrafficRules

/// Whatever a rules file says, it is read or refused with its line, and nothing else happens.
@Suite struct RuleParserFuzzTests {
    private static let words = [
        "when", "block", "mapRemote", "mapLocal", "respond", "request", "response", "pause", "pace", "fault", "name", "enabled", "record",
        "share", "first", "nth", "every", "after", "for", "quota", "count", "kind", "status", "retryAfter", "grpc", "message", "code",
        "scope", "reason", "alert", "bytes", "delay", "in", "set", "remove", "replace", "match", "with", "json", "body", "file", "base64",
        "headers", "templates", "latency", "jitter", "lognormal", "median", "sigma", "down", "up", "burst", "each", "profile", "limit",
        "window", "by", "rules", "seed", "header:a", "query:a", "json:/a/*", "form:a", "part:a|json:/b", "filename:a", "xml:/a/@b", "url",
    ]

    private static let texts = [
        "", "~u a", "~u ^https://a\\.example/(.*)$", "~b x & ! (~m GET | ~d a)", "403", "close", "reset", "https://a.example/v2/",
        "http://[::1]:1/", "a/b.json", "../x", "5%", "100%", "-1", "0", "1e9", "99999999999999999999", "2s", "1.5h", "64KiB", "3 events",
        "50%", "true", "{{json:/a}}", "{{", "}}", "{{{{a}}}}", "$1", "(a)(b)", "((((((((", "a{1000}{1000}", "slow-3g", "UNAVAILABLE",
        "header:a", "json:/a", "\u{0}", "\u{1F600}", "é", "1.5Mbit", "0.0000000000001%", String(repeating: "a", count: 5000),
    ]

    private static func node(_ random: inout SplitMix64, depth: Int) -> RuleNode {
        let line = Int(random.next() % 50) + 1
        switch random.next() % (depth > 4 ? 2 : 6) {
        case 0: return RuleNode(line: line, content: .nothing)
        case 1, 2:
            return RuleNode(
                line: line, content: .text(self.texts[Int(random.next() % UInt64(self.texts.count))]), isString: random.next() % 2 == 0)
        case 3: return RuleNode(line: line, content: .list((0..<random.next() % 4).map { _ in self.node(&random, depth: depth + 1) }))
        default:
            return RuleNode(
                line: line,
                content: .members(
                    (0..<random.next() % 4).map { _ in
                        RuleNode.Member(
                            name: self.words[Int(random.next() % UInt64(self.words.count))], line: line,
                            value: self.node(&random, depth: depth + 1))
                    }))
        }
    }

    /// A rule with one action, so that its own members are reached.
    private static func rule(_ random: inout SplitMix64) -> RuleNode {
        let actions = ["block", "mapRemote", "mapLocal", "respond", "request", "response", "pause", "pace", "fault"]
        let action = actions[Int(random.next() % UInt64(actions.count))]
        return RuleNode(
            line: 1, content: .members([RuleNode.Member(name: action, line: 2, value: self.node(&random, depth: 2))]))
    }

    @Test(arguments: 0..<8)
    func everyListIsReadOrRefused(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var read = 0
        for _ in 0..<1000 {
            let content: RuleNode.Content = random.next() % 4 == 0 ? Self.node(&random, depth: 0).content : .list([Self.rule(&random)])
            let list = RuleList(node: RuleNode(line: 1, content: content), file: "f", folder: random.next() % 2 == 0 ? "/nowhere" : nil)
            do throws(SettingSyntaxError) {
                let rules = try TrafficRules([list])
                read += 1
                let engine = RuleEngine(rules)
                for request in [
                    RequestFacts.get("https://a.example/v2/pets?a=1"), .post("https://a.example/", #"{"a": 1}"#),
                    RequestFacts(method: "", url: ""), .get("nonsense"), .get("https://"),
                ] {
                    guard let plan = engine.plan(for: request, now: .seconds(3)) else { continue }
                    var head = RequestHeadFacts(method: request.method, url: request.url, headers: request.headers)
                    _ = plan.requestEdit?.apply(to: &head)
                    _ = plan.requestEdit?.applyBody(request.body ?? [], headers: &head.headers)
                    var response = ResponseHeadFacts(status: 200, reason: "OK", headers: head.headers)
                    _ = plan.responseEdit?.apply(to: &response)
                    _ = plan.responseEdit?.applyBody(Array(#"{"a": [{"b": "aaa"}]}"#.utf8), headers: &response.headers)
                }
                _ = rules.trial(.get("https://a.example/"))
            } catch {
                #expect(error.message.hasPrefix("\"f\" line ") || error.message.hasPrefix("\"f\" rule "), "\(error.message)")
                #expect(!error.message.hasSuffix("."))
            }
        }
        #expect(read > 20)
    }
}
