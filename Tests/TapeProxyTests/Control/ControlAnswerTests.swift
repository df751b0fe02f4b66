import CassetteModel
import CassetteRedaction
@testable import CassetteRun
@testable import TapeProxy
import Testing

@Suite struct ControlAnswerTests {
    @Test func anErrorIsOneJSONObject() {
        let answer = ControlAnswer(status: 404, reason: "Not Found", fields: ["X: y"], code: "not-found", message: "no \"s1\"")
        #expect(
            String(decoding: answer.bytes(), as: UTF8.self)
                == [
                    "HTTP/1.1 404 Not Found", "X: y", "Content-Type: application/json", "X-Content-Type-Options: nosniff",
                    "Cache-Control: no-store", "Content-Length: 61", "Connection: close", "",
                    "{ \"error\": { \"code\": \"not-found\", \"message\": \"no \\\"s1\\\"\" } }\n",
                ].joined(separator: "\r\n"))
    }
}

@Suite struct ControlAnswerErrorsTests {
    @Test func everyErrorHasItsStatus() {
        let table: [(any Error, Int)] = [
            (SessionError(.invalid, "m"), 400), (SessionError(.notFound, "m"), 404), (SessionError(.nameTaken, "m"), 409),
            (SessionError(.cassetteInUse, "m"), 409), (SessionError(.tooMany, "m"), 503), (SessionError(.stopping, "m"), 503),
            (CassetteError(.unsafePath, "m"), 400), (CassetteError(.inUse, "m"), 409), (CassetteError(.notFound, "m"), 422),
            (CassetteError(.noSpace, "m"), 507), (CassetteError(.damaged, "m"), 422), (CassetteError(.unsupportedVersion, "m"), 422),
            (ControlAnswer.tooSlow, 408), (SettingSyntaxError("m"), 400), (RunPlan.Expired(message: "m"), 422),
            (ProxyError(.cannotListen, "m"), 500),
        ]
        for (error, status) in table { #expect(ControlAnswer(error).status == status, "\(error)") }
    }
}
