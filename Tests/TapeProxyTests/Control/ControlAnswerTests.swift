import CassetteModel
import CassetteRedaction
@testable import CassetteRun
import LocalHTTP
@testable import TapeProxy
import Testing

@Suite struct ControlAnswerErrorsTests {
    @Test func everyErrorHasItsStatus() {
        let table: [(any Error, Int)] = [
            (SessionError(.invalid, "m"), 400), (SessionError(.notFound, "m"), 404), (SessionError(.nameTaken, "m"), 409),
            (SessionError(.cassetteInUse, "m"), 409), (SessionError(.tooMany, "m"), 503), (SessionError(.stopping, "m"), 503),
            (CassetteError(.unsafePath, "m"), 400), (CassetteError(.inUse, "m"), 409), (CassetteError(.notFound, "m"), 422),
            (CassetteError(.noSpace, "m"), 507), (CassetteError(.damaged, "m"), 422), (CassetteError(.unsupportedVersion, "m"), 422),
            (LocalAnswer.tooSlow, 408), (SettingSyntaxError("m"), 400), (RunPlan.Expired(message: "m"), 422),
            (ProxyError(.cannotListen, "m"), 500),
        ]
        for (error, status) in table { #expect(LocalAnswer(error).status == status, "\(error)") }
    }
}
