@testable import CassettePlayback
import Testing

@Suite struct ReplayReportJUnitTests {
    private func text(_ report: ReplayReport, failOn: Set<VerdictFlaw> = Set(VerdictFlaw.allCases)) -> String {
        String(decoding: ReplayReportJUnit.bytes(report, failOn: failOn, failingChecks: [.rule, .client]), as: UTF8.self)
    }

    @Test func eachExchangeAndEachFlawIsATestCase() {
        let text = self.text(SampleReport.whole)
        #expect(text.contains("<testsuite name=\"replay of pets.json\" tests=\"8\" failures=\"4\" errors=\"2\" skipped=\"0\" time=\"0\">"))
        #expect(text.contains("name=\"exchange 1: GET http://a.test/1\" time=\"0\"/>\n"))
        #expect(text.contains("name=\"exchange 3: POST http://a.test/3\" time=\"0\">\n      <failure type=\"unused\""))
        #expect(text.contains("name=\"exchange 2: GET http://a.test/2\" time=\"0\">\n      <error type=\"unserved\""))
        #expect(text.contains("name=\"miss 1: GET http://a.test/5?ts=2\" time=\"0\">\n      <failure type=\"miss\""))
        #expect(text.contains("name=\"order 1: GET http://a.test/1\" time=\"0\">\n      <failure type=\"order\""))
        #expect(text.contains("name=\"the cassette is whole\" time=\"0\">\n      <error type=\"damage\""))
        #expect(!text.contains("CONNECT"))
    }

    @Test func flawsThatDoNotFailAreSkipped() {
        let text = self.text(SampleReport.whole, failOn: [.miss])
        #expect(text.contains("tests=\"8\" failures=\"2\" errors=\"0\" skipped=\"4\""))
        #expect(text.contains("<skipped message=\"unused: no request used it"))
    }

    @Test func flawsBeyondTheListLimitFailToo() {
        var report = SampleReport.clean
        report.verdict.misses = 7
        let text = self.text(report)
        #expect(text.contains("tests=\"2\" failures=\"1\""))
        #expect(text.contains("name=\"7 more misses\""))
    }

    @Test func aRequestThatCouldNotBeDecidedFails() {
        var report = SampleReport.clean
        report.verdict.unserved = 1
        report.verdict.unservedAnswers = [UnservedAnswer(index: nil, problem: "line 4 is damaged")]
        let text = self.text(report, failOn: [.miss, .unserved])
        #expect(text.contains("tests=\"2\" failures=\"0\" errors=\"1\""), "\(text)")
        #expect(text.contains("name=\"undecided 1\"") && text.contains("line 4 is damaged"), "\(text)")
    }

    @Test func hostileNamesStayText() {
        var report = SampleReport.clean
        report.cassette = "\"><x>&\u{0}\u{FFFE}"
        report.exchanges[0].request = "GET ]]>&<!--\n\u{1B}"
        let text = self.text(report)
        #expect(text.contains("name=\"replay of &quot;&gt;&lt;x&gt;&amp;\u{FFFD}\u{FFFD}\""))
        #expect(text.contains("exchange 1: GET ]]&gt;&amp;&lt;!--&#10;\u{FFFD}\""))
    }
}
