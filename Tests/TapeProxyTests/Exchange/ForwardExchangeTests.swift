import CassetteModel
import Testing
@testable import TapeProxy

@Suite struct ForwardExchangeTests {
    /// An origin may close a kept connection at any time, even while a request is on its way to it (RFC 9112, 9.3.1).
    private func origin(second method: String, _ more: RawOrigin.Script...) throws -> RawOrigin {
        let first: RawOrigin.Script = { connection in
            try connection.expectRequest("GET /first")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
            try connection.expectRequest("\(method) /second")
        }
        return more.isEmpty ? try RawOrigin(first) : try RawOrigin(first, more[0])
    }

    @Test func aGETIsSentAgainOnANewConnection() throws {
        let origin = try self.origin(
            second: "GET",
            { connection in
                try connection.expectRequest("GET /second")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2")
            })
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request("GET", "/first"))
            let first = try client.readMessage()
            try client.send(origin.request("GET", "/second"))
            return LiveAndReplayed.Answer(bytes: first + (try client.readMessage()))
        }
        #expect(answer.text.hasSuffix("\r\n\r\n2"))
        #expect(origin.accepted == 2)
        #expect(recorded.count == 2)
        #expect(recorded.last?.connection?.isReused == false)
    }

    @Test func aFirstConnectionThatGoesAwayIsNotTriedAgain() throws {
        let origin = try RawOrigin { try $0.expectRequest("GET /") }
        let (answer, _) = try LiveAndReplayed.compare(origin, asking: origin.request("GET", "/", "Connection: close"))
        #expect(answer.text.contains("Wiretape-Error: reset"))
        #expect(origin.accepted == 1)
    }
}
