import ArgumentParser
import CassettePlayback
import CassetteStore
@testable import TapeIsolation
import TapeProxy
import Testing
@testable import WiretapeCLI

@Suite struct PaceOptionsTests {
    @Test func missingOptionsKeepTheSettings() throws {
        var settings = RunSettings()
        settings[Settings.latency] = Setting(value: .scaled(1), source: .standard)
        #expect(try SettingOptions<PaceGroup>.parse([]).lay(over: settings) == settings)
    }

    @Test func aPaceAndDatesAreLaidOverTheSettings() throws {
        let options = try SettingOptions<PaceGroup>.parse(["--latency", "×2", "--refresh-dates", "--refresh-field", "json:/until"])
        let settings = options.lay(over: RunSettings())
        #expect(settings.value(Settings.latency) == .scaled(2))
        #expect(
            settings.value(Settings.refreshDates)
                && settings[Settings.refreshFields] == [Setting(value: "json:/until", source: .commandLine)])
        #expect(try SettingOptions<PaceGroup>.parse(["--no-refresh-dates"]).lay(over: settings)[Settings.refreshDates]?.value == false)
    }

    @Test(arguments: [["--latency", "soon"], ["--refresh-dates", "--refresh-field", "query:a"]])
    func invalidOptionIsWrongUsage(_ options: [String]) {
        #expect(throws: (any Error).self) { try SettingOptions<PaceGroup>.parse(options) }
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

    @Test(arguments: [true, false]) func escapesThatFailTheRunAreFlaws(fails: Bool) throws {
        var isolation = IsolationReport()
        isolation.refused = [.init(transport: .tcp, host: "a.test", port: 25, reason: .port)]
        let bytes = try ReportFile("b.json").bytes(
            ReplayReport(cassette: "pets.json", mode: .none, verdict: Verdict(hits: 1), exchanges: []),
            failOn: FailureRule([.miss], others: fails ? [.escapes] : []), isolation: IsolationLines(report: isolation, isReplay: true))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"clean\": \(!fails)") && text.contains("\"escapes\"") == fails, "\(text)")
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
        let options = try SettingOptions<RuleGroup>.parse(["--ignore", "query:a", "--ignore", "body", "--pattern", "query:b=x=y"])
        let more = try SettingOptions<MoreRuleGroup>.parse(["--match", "method,url", "--sort", "json:/a", "--descriptors", "pets.pb"])
        let head = RunSettings(matchTexts: MatchRuleTexts(match: ["path"], ignore: ["query:c"]), of: "pets.json")
        let settings = more.lay(over: options.lay(over: head))
        #expect(settings[Settings.match] == Setting(value: ["method", "url"], source: .commandLine))
        #expect(settings[Settings.ignore].map(\.value) == ["query:c", "query:a", "body"])
        #expect(settings[Settings.patterns].map(\.value) == ["query:b=x=y"])
        #expect(settings[Settings.sort].map(\.value) == ["json:/a"] && settings[Settings.descriptors].map(\.value) == ["pets.pb"])
    }

    @Test func withoutOptionsNothingIsSet() throws {
        #expect(try SettingOptions<RuleGroup>.parse([]).lay(over: RunSettings()) == RunSettings())
        #expect(try SettingOptions<MoreRuleGroup>.parse([]).lay(over: RunSettings()) == RunSettings())
    }

    @Test(arguments: [["--ignore", "nowhere"], ["--pattern", "query:a"], ["--pattern", "query:a=("]])
    func aMistakeIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try SettingOptions<RuleGroup>.parse(arguments) }
    }

    @Test(arguments: [["--match", "methd"], ["--match", "method,,url"], ["--sort", "body"], ["--replace", "json:/a"]])
    func aMistakeInFurtherRulesIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try SettingOptions<MoreRuleGroup>.parse(arguments) }
    }
}

@Suite struct AnswerOptionsTests {
    @Test func optionsAreLaidOverSettings() throws {
        let answers = try SettingOptions<AnswerGroup>.parse([
            "--repeat", "last", "--order", "strict", "--max-age", "30d", "--on-expired", "fail",
        ])
        let failures = try SettingOptions<FailureGroup>.parse(["--fail-on", "miss,unused"])
        let settings = failures.lay(over: answers.lay(over: RunSettings()))
        #expect(
            settings[Settings.repetition]?.value == .last && settings[Settings.order]?.value == .strict
                && settings[Settings.failOn]?.value.flaws == [.miss, .unused])
        #expect(settings.value(Settings.maxAge)?.seconds == 30 * 86_400 && settings[Settings.onExpired]?.value == .fail)
        #expect(settings[Settings.repetition]?.source == .commandLine)
    }

    @Test func reportsAreNamedByTheirFiles() throws {
        #expect(try ReportOptions.parse(["--report", "a.json", "--report", "b.xml"]).report.map(\.path) == ["a.json", "b.xml"])
        #expect(throws: (any Error).self) { try ReportOptions.parse(["--report", "a.txt"]) }
    }

    @Test func withoutOptionsNothingIsSet() throws {
        #expect(try SettingOptions<AnswerGroup>.parse([]).lay(over: RunSettings()) == RunSettings())
        #expect(try SettingOptions<FailureGroup>.parse([]).lay(over: RunSettings()) == RunSettings())
    }

    @Test(
        arguments: [
            ["--repeat", "always"], ["--order", "x"], ["--report", "a.json"], ["--max-age", "30"], ["--on-expired", "x"],
        ])
    func aMistakeIsWrongUsage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try SettingOptions<AnswerGroup>.parse(arguments) }
    }

    @Test(arguments: ["", "leak", "miss,none"]) func aMistakeInFailuresIsWrongUsage(names: String) {
        #expect(throws: (any Error).self) { try SettingOptions<FailureGroup>.parse(["--fail-on", names]) }
    }
}
