import CassetteModel
import CassettePlayback
import Testing
@testable import Wiretape

@Suite struct WiretapeErrorTests {
    @Test func messagesAreReadable() {
        let error = WiretapeError(.file, "no room in \"/tmp\": make some")
        #expect("\(error)" == "no room in \"/tmp\": make some")
        #expect(error.localizedDescription == error.message)
        #expect(!error.isCancelled && error.transportFailure == nil && error.networkFailure == nil && error.missReport == nil)
    }

    @Test func theTransportsFailureIsAtHand() {
        let error = WiretapeError(.network, "m", cause: TransportFailure(.network(.reset), "m"))
        #expect(error.networkFailure == .reset)
        #expect(error.transportFailure?.message == "m")
        #expect("\(error.code)" == "network")
    }
}

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

    @Test func ourErrorsStayAndOthersAreDescribed() {
        let ours = WiretapeError(.redirect, "ours")
        #expect(WiretapeError(ours, as: .adapter).code == .redirect)
        #expect(WiretapeError(CancellationError(), as: .adapter).isCancelled)
        let other = WiretapeError(Other(), as: .adapter)
        #expect(other.code == .adapter && other.message == "other" && other.cause is Other)
    }
}
