import Testing

@testable import CassetteModel

struct LintReportTests {
    @Test func isInTheOrderOfTheBodyAndLimited() {
        let report = LintReport(limit: 2)
        report.add(MultipartProblem(.nul, offset: 9, "b"))
        report.add(MultipartProblem(.nul, offset: 2, "a"))
        report.add(MultipartProblem(.nul, offset: 1, "c"))
        #expect(report.all.map(\.sentence) == ["a", "b", "1 more problems are not listed; fix these first"])
    }

    @Test func saysSomeThingsOnce() {
        let report = LintReport(limit: 10)
        report.addOnce(MultipartProblem(.padding, offset: 1, "a"))
        report.addOnce(MultipartProblem(.padding, offset: 2, "b"))
        report.addOnce(MultipartProblem(.epilogue, offset: 3, "c"))
        #expect(report.all.map(\.sentence) == ["a", "c"])
    }
}
