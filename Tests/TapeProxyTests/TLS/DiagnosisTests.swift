import Dispatch
import NIOConcurrencyHelpers
import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct DiagnosisTests {
    private let counts = Guarded(ProxyCounts())
    private let notices = NoticeList()

    private func diagnosis() -> Diagnosis { Diagnosis(counts: self.counts, notice: self.notices.add) }

    private func problem(_ host: String = "h", port: Int = 443, leg: TLSProblem.Leg = .client, cause: TLSFailure.Cause = .closed)
        -> TLSProblem
    {
        TLSProblem(leg: leg, host: host, port: port, failure: TLSFailure(cause: cause, message: "m"))
    }

    @Test func aProblemIsToldOnceAndCountedEachTime() {
        let diagnosis = self.diagnosis()
        for _ in 0..<5 { diagnosis.report(self.problem()) }
        #expect(self.notices.lines == [self.problem().description])
        #expect(self.counts.withLock { $0.tlsFailures } == 5)
    }

    @Test func anotherHostPortLegOrCauseIsAnotherProblem() {
        let diagnosis = self.diagnosis()
        let problems = [
            self.problem(), self.problem("i"), self.problem(port: 8443), self.problem(leg: .upstream), self.problem(cause: .reset),
        ]
        for problem in problems + problems { diagnosis.report(problem) }
        #expect(self.notices.lines == problems.map(\.description))
    }

    @Test func otherWordsForTheSameCauseAreNoNews() {
        let diagnosis = self.diagnosis()
        diagnosis.report(self.problem())
        var other = self.problem()
        other.failure.message = "other words"
        diagnosis.report(other)
        #expect(self.notices.lines.count == 1)
    }

    @Test func aRemarkIsNoFailureAndIsMadeOnce() {
        let diagnosis = self.diagnosis()
        diagnosis.remark("one")
        diagnosis.remark("one")
        diagnosis.remark("two")
        #expect(self.notices.lines == ["one", "two"])
        #expect(self.counts.withLock { $0.tlsFailures } == 0)
    }

    @Test func aProblemIsToldOnceOverAllEventLoops() {
        let diagnosis = self.diagnosis()
        let problem = self.problem()
        DispatchQueue.concurrentPerform(iterations: 100) { _ in diagnosis.report(problem) }
        #expect(self.notices.lines == [problem.description])
        #expect(self.counts.withLock { $0.tlsFailures } == 100)
    }

    @Test func nobodyIsToldMoreThanTwoHundredThings() {
        let diagnosis = self.diagnosis()
        for number in 0..<1000 { diagnosis.report(self.problem("h\(number)")) }
        diagnosis.remark("late")
        #expect(self.notices.lines.count == 200)
        #expect(self.counts.withLock { $0.tlsFailures } == 1000)
    }
}
