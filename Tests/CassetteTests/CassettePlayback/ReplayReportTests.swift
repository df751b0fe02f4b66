@testable import CassettePlayback
import Testing

@Suite struct ReplayReportTests {
    @Test func aCleanReplayIsCleanInAllForms() {
        let report = SampleReport.clean
        #expect(report.lines == ["replayed 1 of 1 exchange from pets.json"])
        #expect(String(decoding: report.json, as: UTF8.self).contains("\n  \"clean\": true,\n  \"flaws\": [],\n"))
        #expect(String(decoding: report.junit(), as: UTF8.self).contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""))
    }
}

@Suite struct ReplayReportTextTests {
    @Test func saysWhatWentWrongAndTheNumbersLast() {
        let lines = ReplayReportText.lines(SampleReport.whole)
        #expect(
            lines.joined(separator: "\n") == """
                miss: no recorded exchange answers "GET http://a.test/5?ts=2"
                nearest recorded requests:
                  exchange 5, "GET http://a.test/5?ts=1"
                    query item is "ts=2", recorded is "ts=1"
                to match it with exchange 5, run with: --ignore query:ts; to record it, run: wiretape run --mode new-episodes CASSETTE -- COMMAND
                miss: the only recorded exchange for "GET http://a.test/1" is used up
                to repeat the last answer, run with: --repeat last; to record one more, run: wiretape run --mode new-episodes CASSETTE -- COMMAND
                order: exchange 1, "GET http://a.test/1", answered after exchange 2, "GET http://a.test/2"
                not served: exchange 2 could not be replayed: the body's file \\"x\\" is missing; record the exchange again
                unused: exchange 3, "POST http://a.test/3"
                damaged: the end is missing
                replayed 3 of 4 exchanges from pets.json, 1 of them again, 2 misses, 1 unused, 1 out of order, 1 not served
                """)
    }

    @Test func flawsBeyondTheListLimitAreCounted() {
        var report = SampleReport.whole
        report.verdict.misses = 9
        report.verdict.orderViolations = 4
        report.verdict.unserved = 3
        report.verdict.unused = Array(0..<50)
        let lines = ReplayReportText.lines(report)
        for line in ["and 7 more misses", "and 3 more out of order", "and 2 more not served", "and 30 more unused"] {
            #expect(lines.contains(line))
        }
    }

    @Test func flawsAreNamedThatAreAskedFor() {
        let report = SampleReport.whole
        #expect(ReplayReportText.flawLines(report, naming: []).isEmpty)
        for (flaw, word) in [(VerdictFlaw.miss, "miss: "), (.order, "order: "), (.unserved, "not served: "), (.unused, "unused: ")] {
            let lines = ReplayReportText.flawLines(report, naming: [flaw])
            #expect(lines.contains { $0.hasPrefix(word) } && lines.allSatisfy { $0.hasPrefix(word) || $0.hasPrefix("and ") }, "\(flaw)")
        }
        #expect(report.lines.last == report.numbers)
    }
}
