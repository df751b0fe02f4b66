import CassetteModel
import Testing

@testable import Wiretape

@Suite struct TransportFailureWordTests {
    @Test func eachKindHasAWord() {
        #expect(Failure.Kind.allCases.map { TransportFailure.Kind.network($0).word } == Failure.Kind.allCases.map(\.rawValue))
        #expect(TransportFailure.Kind.unsupported.word == "unsupported")
        #expect(TransportFailure.Kind.body.word == "body")
    }
}
