import LocalHTTP
@testable import TapeProxy
import Testing

@Suite struct ControlContextTests {
    /// The beginning of a request with the token; its body follows later.
    private func begin(_ running: RunningSessions, body: String) throws -> RawConnection {
        let client = try RawConnection(port: running.controlPort)
        try client.send(String(running.request("POST", "/sessions", "Expect: 100-continue", body: body).dropLast(body.utf8.count)))
        return client
    }

    @Test func strangersDoNotLockTheAPIOut() throws {
        let running = try RunningSessions()
        let body = #"{"cassette": "a.json"}"#
        let known = try self.begin(running, body: body)
        try known.expect("HTTP/1.1 100 Continue\r\n\r\n")
        let silent = try (0..<3 * ConnectionSeats<Int>.strangerLimit).map { number in
            let client = try RawConnection(port: running.controlPort)
            // Neither silent connections nor half a request take room from clients with the token.
            if number % 2 == 1 { try client.send("GET /sessions HTTP/1.1\r\nHost: \(running.control.address)\r\n") }
            return client
        }
        #expect(try running.ask("GET", "/sessions").status == 200)
        // The oldest connections have made room.
        try silent[0].expectEnd()
        try known.send(body)
        #expect(String(decoding: try known.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 201 "))
    }

    @Test func connectionsWithTheTokenHaveALimitAndComeBack() throws {
        let running = try RunningSessions()
        let body = #"{"cassette": "a.json"}"#
        let open = try (0..<ControlContext.connectionLimit).map { _ in
            let client = try self.begin(running, body: body)
            try client.expect("HTTP/1.1 100 Continue\r\n\r\n")
            return client
        }
        let late = try self.begin(running, body: body)
        #expect(String(decoding: try late.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
        for client in open { client.closeOutput() }
        for client in open { try client.expectEnd() }
        #expect(try running.ask("GET", "/sessions").status == 200)
    }
}
