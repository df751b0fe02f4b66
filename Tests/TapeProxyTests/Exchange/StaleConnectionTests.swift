import CassetteModel
import Testing
@testable import TapeProxy

@Suite struct StaleConnectionTests {
    /// An origin may close a kept connection at any time, even while a request is on its way to it (RFC 9112, 9.3.1).
    private func origin(second method: String, _ more: RawOrigin.Script...) throws -> RawOrigin {
        let first: RawOrigin.Script = { connection in
            try connection.expectRequest("GET /first")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
            try connection.expectRequest("\(method) /second")
        }
        return more.isEmpty ? try RawOrigin(first) : try RawOrigin(first, more[0])
    }

    @Test func aPOSTIsNotSentTwice() throws {
        let origin = try self.origin(second: "POST")
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request("GET", "/first"))
            let first = try client.readMessage()
            try client.send(origin.request("POST", "/second", "Content-Length: 2", body: "hi"))
            return LiveAndReplayed.Answer(bytes: first + (try client.readMessage()))
        }
        #expect(answer.text.contains("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: reset\r\n"))
        #expect(origin.accepted == 1)
        guard case .failed(let failure)? = recorded.last?.outcome else { throw RawError("\(recorded) is not failed") }
        #expect(failure.kind == .reset)
    }
}
