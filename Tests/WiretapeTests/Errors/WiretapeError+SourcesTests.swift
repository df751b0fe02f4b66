import CassetteModel
import CassettePlayback
import Testing

@testable import Wiretape

@Suite struct WiretapeErrorSourcesTests {
    private struct Other: Error, CustomStringConvertible { var description: String { "other" } }

    @Test(arguments: [
        (TransportFailure.Kind.network(.timeout), WiretapeError.Code.timedOut), (.network(.cancelled), .cancelled),
        (.network(.dns), .network), (.unsupported, .unsupported), (.body, .requestBody),
        (.unserved(UnservedAnswer(index: nil, problem: "p")), .unserved),
    ])
    func failuresOfTheTransportKeepTheirKind(kind: TransportFailure.Kind, code: WiretapeError.Code) {
        let error = WiretapeError(TransportFailure(kind, "why"), as: .adapter)
        #expect(error.code == code)
        #expect(error.message == "why")
        #expect(error.transportFailure?.kind == kind)
    }

    @Test func oursStayAndOthersAreTold() {
        let ours = WiretapeError(.redirect, "ours")
        #expect(WiretapeError(ours, as: .adapter).code == .redirect)
        #expect(WiretapeError(CancellationError(), as: .adapter).isCancelled)
        let other = WiretapeError(Other(), as: .adapter)
        #expect(other.code == .adapter && other.message == "other" && other.cause is Other)
    }
}
