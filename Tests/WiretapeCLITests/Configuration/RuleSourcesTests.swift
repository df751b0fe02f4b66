import CassettePlayback
import TapeBytes
import TapeProxy
import Testing

@testable import WiretapeCLI
import TapeTestSupport

/// Every rule, in every place: in options, in a configuration file, in a cassette's head, and in a program.
@Suite struct RuleSourcesTests {
    private static let match = [
        "method", "scheme", "host", "port", "path", "query", "query-order", "url", "header:X-User", "body", "body:bytes", "body:json",
        "body:form", "body:multipart", "body:text", "part-order", "graphql",
    ]
    private static let ignored = [
        "method", "scheme", "host", "port", "path", "query", "query:ts", "header:date", "body", "json:/a/*/b", "form:nonce", "part:file",
    ]
    private static let patterns = [
        "host=[a-z]+", "path=/a/[0-9]+", "query:ts=[0-9]+", "header:x-id=.*", "json:/a/*/b=[0-9]+", "form:n=x=y", "part:p=[a-z]+",
    ]

    private static let all: [MatchRuleTexts] =
        Self.match.map { MatchRuleTexts(match: $0 == "part-order" ? ["body", $0] : $0 == "query-order" ? ["url", $0] : [$0]) }
        + Self.ignored.map { MatchRuleTexts(ignore: [$0]) } + Self.patterns.map { MatchRuleTexts(patterns: [$0]) }

    private static func json(_ texts: MatchRuleTexts) -> [UInt8] {
        var writer = JSONWriter()
        texts.write(into: &writer)
        return writer.bytes
    }

    @Test(arguments: all)
    func aRuleIsTheSameFromEverySource(texts: MatchRuleTexts) throws {
        let expected = try MatchRules(match: texts.match, ignore: texts.ignore, patterns: texts.patterns)
        let more = texts.match.map { ["--match", $0.joined(separator: ",")] } ?? []
        let arguments = texts.ignore.flatMap { ["--ignore", $0] } + texts.patterns.flatMap { ["--pattern", $0] }
        let json = Self.json(texts)
        let folder = try TemporaryFolder()
        let head = Array("{\n  \"wiretape\": 1,\n  \"match\": ".utf8) + json + Array(",\n  \"interactions\": []\n}\n".utf8)
        let cassette = try RecordedCassette(path: folder.write(head, to: "a.json"))
        let own = try #require(try cassette.matchTexts())
        let sources = try [
            SettingOptions<MoreRuleGroup>.parse(more).lay(over: SettingOptions<RuleGroup>.parse(arguments).lay(over: RunSettings()))
                .matchTexts,
            ConfigReader(file: "w.json").settings(ConfigNode.json(json, file: "w.json")) { _ in }.matchTexts,
            ConfigReader(file: "w.yaml").settings(ConfigNode.yaml(json, file: "w.yaml")) { _ in }.matchTexts,
            own,
        ]
        for source in sources {
            let rules = try MatchRules.standard.adding(source)
            #expect(rules.rules == expected.rules && rules.ignored == expected.ignored && rules.patterns == expected.patterns)
        }
        #expect(try cassette.matchRules().rules == expected.rules)
    }
}
