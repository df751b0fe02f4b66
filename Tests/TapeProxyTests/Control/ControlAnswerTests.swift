import Testing
@testable import TapeProxy

@Suite struct ControlAnswerTests {
    @Test func anErrorIsOneJSONObject() {
        let answer = ControlAnswer(status: 404, reason: "Not Found", fields: ["X: y"], code: "not-found", message: "no \"s1\"")
        #expect(
            String(decoding: answer.octets(), as: UTF8.self)
                == [
                    "HTTP/1.1 404 Not Found", "X: y", "Content-Type: application/json", "X-Content-Type-Options: nosniff",
                    "Cache-Control: no-store", "Content-Length: 61", "Connection: close", "",
                    "{ \"error\": { \"code\": \"not-found\", \"message\": \"no \\\"s1\\\"\" } }\n",
                ].joined(separator: "\r\n"))
    }
}
