import CassettePlayback
import CassetteStore
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct ReportFileTests {
    private let report = ReplayReport(
        cassette: "pets.json", mode: .none, verdict: Verdict(hits: 0, unused: [0]),
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
