import CassettePlayback
import Testing

@Suite struct ReplayReportTests {
    @Test func aCleanReplayIsCleanInAllForms() {
        let report = SampleReport.clean
        #expect(report.lines == ["replayed 1 of 1 exchange from pets.json"])
        #expect(String(decoding: report.json, as: UTF8.self).contains("\n  \"clean\": true,\n  \"flaws\": [],\n"))
        #expect(String(decoding: report.junit(), as: UTF8.self).contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""))
    }
}
