import ArgumentParser
import CassettePlayback
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct RuleOptionsTests {
    @Test func optionsAreLaidOverSettings() throws {
        let options = try RuleOptions.parse([
            "--match", "method,url", "--ignore", "query:a", "--ignore", "body", "--pattern", "query:b=x=y",
        ])
        let settings = options.lay(over: RunSettings(matchTexts: MatchRuleTexts(match: ["path"], ignore: ["query:c"]), of: "pets.json"))
        #expect(settings.match == Setting(value: ["method", "url"], source: .commandLine))
        #expect(settings.ignore.map(\.value) == ["query:c", "query:a", "body"])
        #expect(settings.patterns.map(\.value) == ["query:b=x=y"])
    }

    @Test func withoutOptionsNothingIsSaid() throws {
        #expect(try RuleOptions.parse([]).lay(over: RunSettings()) == RunSettings())
    }

    @Test(arguments: [
        ["--match", "methd"], ["--match", "method,,url"], ["--ignore", "nowhere"], ["--pattern", "query:a"], ["--pattern", "query:a=("],
    ])
    func aMistakeIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try RuleOptions.parse(arguments) }
    }
}
