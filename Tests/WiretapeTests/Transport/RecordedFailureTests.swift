import CassetteModel
import Testing

@testable import Wiretape

@Suite struct RecordedFailureTests {
    @Test(
        arguments: [
            (Outcome.complete, true, true, nil),
            (.complete, true, false, .truncated), (.complete, false, true, .truncated),
            (.failed(Failure(kind: .tls, message: "x")), false, true, .tls),
            (.failed(Failure(kind: .reset, message: "x")), true, false, .reset),
            (.cut(Cut(by: .origin, reason: "x")), true, false, .truncated), (.cut(Cut(by: .client, reason: "x")), false, true, .cancelled),
        ] as [(Outcome, Bool, Bool, Failure.Kind?)])
    func eachEndingHasItsFailure(outcome: Outcome, hasResponse: Bool, isComplete: Bool, kind: Failure.Kind?) {
        let failure = RecordedFailure.of(outcome, hasResponse: hasResponse, isBodyComplete: isComplete)
        #expect(failure?.kind == kind.map { .network($0) })
    }
}
