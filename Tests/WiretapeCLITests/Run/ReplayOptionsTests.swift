import ArgumentParser
import CassettePlayback
import CassetteStore
import TapeProxy
import Testing
@testable import WiretapeCLI

@Suite struct PaceOptionsTests {
    @Test func missingOptionsKeepTheSettings() throws {
        var settings = RunSettings()
        settings.latency = Setting(value: "recorded", source: .standard)
        #expect(try PaceOptions.parse([]).lay(over: settings) == settings)
    }

    @Test func aPaceAndDatesAreLaidOverTheSettings() throws {
        let options = try PaceOptions.parse(["--latency", "×2", "--refresh-dates", "--refresh-field", "json:/until"])
        let settings = options.lay(over: RunSettings())
        #expect(settings.latency?.value == "×2")
        #expect(settings.refreshesDates && settings.refreshFields == [Setting(value: "json:/until", source: .commandLine)])
        #expect(try PaceOptions.parse(["--no-refresh-dates"]).lay(over: settings).refreshDates?.value == false)
    }

    @Test(arguments: [["--latency", "soon"], ["--refresh-dates", "--refresh-field", "query:a"]])
    func invalidOptionIsWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try PaceOptions.parse(options) }
    }
}

@Suite struct ReportFileTests {
    private let report = ReplayReport(
        cassette: "pets.json", mode: .none, verdict: Verdict(hits: 1, unused: [0]),
        exchanges: [ReplayReport.Exchange(id: 1, request: "GET http://a.test/", answers: 0)])

    @Test func theEndingOfTheNameSaysTheForm() throws {
        #expect(try ReportFile("a/b.json").form == .json)
        #expect(try ReportFile("b.xml").form == .junit)
        #expect(throws: SettingError.self) { try ReportFile("b.txt") }
        #expect(throws: SettingError.self) { try ReportFile("json") }
    }

    @Test func jsonIsTheWholeReport() throws {
        #expect(try ReportFile("b.json").bytes(self.report, failOn: .standard) == self.report.json)
    }

    @Test func junitFailsAsTheRunDoes() throws {
        let lenient = String(decoding: try ReportFile("b.xml").bytes(self.report, failOn: .standard), as: UTF8.self)
        #expect(lenient.contains("failures=\"0\"") && lenient.contains("skipped=\"1\""))
        let strict = String(decoding: try ReportFile("b.xml").bytes(self.report, failOn: FailureRule([.unused])), as: UTF8.self)
        #expect(strict.contains("failures=\"1\""))
    }

    @Test func anAnswerThatDidNotArriveFailsThoughNothingIsToFail() throws {
        var report = self.report
        report.verdict = Verdict(unserved: 1, unservedAnswers: [UnservedAnswer(index: 0, problem: "its client left")])
        let text = String(decoding: try ReportFile("b.xml").bytes(report, failOn: FailureRule([])), as: UTF8.self)
        #expect(text.contains("errors=\"1\"") && text.contains("<error type=\"unserved\""), "\(text)")
    }
}

@Suite struct RuleOptionsTests {
    @Test func optionsAreLaidOverSettings() throws {
        let options = try RuleOptions.parse(["--ignore", "query:a", "--ignore", "body", "--pattern", "query:b=x=y"])
        let more = try MoreRuleOptions.parse(["--match", "method,url", "--sort", "json:/a", "--descriptors", "pets.pb"])
        let head = RunSettings(matchTexts: MatchRuleTexts(match: ["path"], ignore: ["query:c"]), of: "pets.json")
        let settings = more.lay(over: options.lay(over: head))
        #expect(settings.match == Setting(value: ["method", "url"], source: .commandLine))
        #expect(settings.ignore.map(\.value) == ["query:c", "query:a", "body"])
        #expect(settings.patterns.map(\.value) == ["query:b=x=y"])
        #expect(settings.sort.map(\.value) == ["json:/a"] && settings.descriptors.map(\.value) == ["pets.pb"])
    }

    @Test func withoutOptionsNothingIsSet() throws {
        #expect(try RuleOptions.parse([]).lay(over: RunSettings()) == RunSettings())
        #expect(try MoreRuleOptions.parse([]).lay(over: RunSettings()) == RunSettings())
    }

    @Test(arguments: [["--ignore", "nowhere"], ["--pattern", "query:a"], ["--pattern", "query:a=("]])
    func aMistakeIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try RuleOptions.parse(arguments) }
    }

    @Test(arguments: [["--match", "methd"], ["--match", "method,,url"], ["--sort", "body"], ["--replace", "json:/a"]])
    func aMistakeInFurtherRulesIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try MoreRuleOptions.parse(arguments) }
    }
}

@Suite struct AnswerOptionsTests {
    @Test func optionsAreLaidOverSettings() throws {
        let answers = try AnswerOptions.parse(["--repeat", "last", "--order", "strict", "--max-age", "30d", "--on-expired", "fail"])
        let failures = try FailureOptions.parse(["--fail-on", "miss,unused"])
        let settings = failures.lay(over: answers.lay(over: RunSettings()))
        #expect(
            settings.repetition?.value == .last && settings.order?.value == .strict && settings.failOn?.value.flaws == [.miss, .unused])
        #expect(settings.maxAge?.value.seconds == 30 * 86_400 && settings.onExpired?.value == .fail)
        #expect(settings.repetition?.source == .commandLine)
    }

    @Test func reportsAreNamedByTheirFiles() throws {
        #expect(try ReportOptions.parse(["--report", "a.json", "--report", "b.xml"]).report.map(\.path) == ["a.json", "b.xml"])
        #expect(throws: (any Error).self) { try ReportOptions.parse(["--report", "a.txt"]) }
    }

    @Test func withoutOptionsNothingIsSet() throws {
        #expect(try AnswerOptions.parse([]).lay(over: RunSettings()) == RunSettings())
        #expect(try FailureOptions.parse([]).lay(over: RunSettings()) == RunSettings())
    }

    @Test(
        arguments: [
            ["--repeat", "always"], ["--order", "x"], ["--report", "a.json"], ["--max-age", "30"], ["--on-expired", "x"],
        ])
    func aMistakeIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try AnswerOptions.parse(arguments) }
    }

    @Test(arguments: ["", "leak", "miss,none"]) func aMistakeInFailuresIsWrongUsage(names: String) {
        #expect(throws: (any Error).self) { try FailureOptions.parse(["--fail-on", names]) }
    }
}
