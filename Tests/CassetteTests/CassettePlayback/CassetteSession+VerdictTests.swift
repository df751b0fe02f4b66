@testable import CassettePlayback
@testable import CassetteStore
import Testing

@Suite struct CassetteSessionVerdictTests {
    private func session(_ paths: [String], repetition: Repetition = .never, order: ReplayOrder = .any) -> CassetteSession {
        CassetteSession(
            mode: .none, keys: RecordedKeys(paths.map { ("GET", "http://a.test" + $0) }), hasCassette: true, repetition: repetition,
            order: order)
    }

    @Test func anAnswerThatCouldNotBeGivenIsNoHit() {
        let session = self.session(["/a"])
        #expect(session.head("GET", "http://a.test/a") == .replay(index: 0))
        session.couldNotServe(0, problem: "no file\n")
        let verdict = session.verdict()
        #expect(verdict.hits == 0 && verdict.unserved == 1 && verdict.unused.isEmpty)
        #expect(verdict.flaws == [.unserved])
        #expect(verdict.unservedAnswers.map(\.index) == [0])
        #expect(verdict.unservedAnswers[0].problem.hasPrefix("no file") && !verdict.unservedAnswers[0].problem.contains("\n"))
    }

    @Test func aRequestThatCouldNotBeDecidedIsNeitherAHitNorAMiss() {
        let session = self.session(["/a"])
        session.couldNotDecide(problem: "GET http://a.test/a: no file\n")
        let verdict = session.verdict()
        #expect(verdict.hits == 0 && verdict.misses == 0 && verdict.unserved == 1 && verdict.unused == [0])
        #expect(verdict.flaws == [.unused, .unserved] && verdict.unservedAnswers.map(\.index) == [nil])
        for _ in 0..<CassetteSession.reportLimit { session.couldNotDecide(problem: "x") }
        #expect(session.verdict().unserved == CassetteSession.reportLimit + 1)
        #expect(session.verdict().unservedAnswers.count == CassetteSession.reportLimit)
    }

    @Test func unservedAnswersAreBoundedAndCounted() {
        let session = self.session(["/a"], repetition: .last)
        for _ in 0..<CassetteSession.reportLimit + 3 {
            _ = session.head("GET", "http://a.test/a")
            session.couldNotServe(0, problem: "x")
        }
        let verdict = session.verdict()
        #expect(verdict.hits == 0 && verdict.unserved == CassetteSession.reportLimit + 3)
        #expect(verdict.unservedAnswers.count == CassetteSession.reportLimit)
    }

    @Test func anExchangeThatAnswersLateIsNoted() {
        let session = self.session(["/a", "/b", "/c"])
        for path in ["/c", "/a", "/b"] { _ = session.head("GET", "http://a.test" + path) }
        let verdict = session.verdict()
        #expect(verdict.hits == 3 && verdict.orderViolations == 2 && verdict.flaws == [.order])
        #expect(verdict.violations.map(\.index) == [0, 1] && verdict.violations.map(\.other) == [2, 2])
        #expect(verdict.violations[0].request == "GET http://a.test/a")
    }

    @Test func orderViolationsAreBoundedAndCounted() {
        let session = self.session(["/a", "/b"], order: .strict)
        for _ in 0..<CassetteSession.reportLimit + 3 { _ = session.head("GET", "http://a.test/b") }
        let verdict = session.verdict()
        #expect(verdict.orderViolations == CassetteSession.reportLimit + 3 && verdict.violations.count == CassetteSession.reportLimit)
        #expect(verdict.unused == [0, 1])
    }

    @Test func strictRefusalsNameTheNextRequest() {
        guard case .refuse(let report) = self.session(["/a", "/b"], order: .strict).head("GET", "http://a.test/b") else {
            Issue.record("not refused")
            return
        }
        #expect(
            report.description == """
                exchange 2, "GET http://a.test/b", was requested while exchange 1, "GET http://a.test/a", was due, and the order is strict
                to accept requests in any order, run with: --order any
                """)
    }
}
