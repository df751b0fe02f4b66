import Testing

@testable import TapeProxy

/// Origins that authenticate a connection by NTLM or Negotiate: which clients' requests use the connection.
@Suite struct AuthenticatedConnectionTests {
    /// Answers with the user for whom its connection is authenticated: the one that the last request with credentials named.
    private static func serve(_ connection: RawConnection) throws {
        var user = "nobody"
        while let head = try? String(decoding: connection.read(through: "\r\n\r\n"), as: UTF8.self) {
            let credentials = head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }
            if let credentials { user = String(credentials.split(separator: " ").last ?? "") }
            let isOpen = user != "nobody"
            try connection.send(
                "HTTP/1.1 \(isOpen ? "200 OK" : "401 Unauthorized")\r\n\(isOpen ? "" : "WWW-Authenticate: NTLM\r\n")Content-Length: \(user.utf8.count)\r\n\r\n\(user)"
            )
        }
    }

    private func user(_ client: RawConnection, _ origin: RawOrigin, _ method: String = "GET", _ fields: String...) throws -> String {
        var request = "\(method) http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\n"
        for field in fields { request += field + "\r\n" }
        try client.send(request + "\r\n")
        let answer = String(decoding: try client.readMessage(), as: UTF8.self)
        return answer.split(separator: "\r\n", omittingEmptySubsequences: false).last.map(String.init) ?? ""
    }

    @Test(arguments: ["NTLM", "Negotiate"]) func nobodyIsAnsweredAsAnotherUser(scheme: String) throws {
        let origin = try RawOrigin(scripts: [Self.serve, Self.serve, Self.serve])
        let proxy = try RunningProxy()
        let (alice, bob) = (try proxy.connect(), try proxy.connect())
        #expect(try self.user(alice, origin, "GET", "Authorization: \(scheme) alice") == "alice")
        #expect(try self.user(bob, origin) == "nobody")
        #expect(try self.user(bob, origin, "DELETE") == "nobody")
        // Interleaves both handshakes, and sends requests without credentials after them.
        #expect(try self.user(bob, origin, "GET", "Authorization: \(scheme) bob") == "bob")
        for _ in 0..<3 {
            #expect(try self.user(alice, origin) == "alice")
            #expect(try self.user(bob, origin, "DELETE") == "bob")
        }
        alice.close()
        let carol = try proxy.connect()
        #expect(try self.user(carol, origin) == "nobody")
        for client in [bob, carol] { client.close() }
        _ = try proxy.recorded()
        origin.finish()
    }

    @Test(arguments: ["Persistent-Auth: true", "Proxy-Support: Session-Based-Authentication", "WWW-Authenticate: Negotiate oRQ="])
    func anAnswerAloneMayBindItsConnection(line: String) throws {
        let answer: @Sendable (RawConnection) throws -> Void = { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 5\r\n\r\nalice")
            try connection.expectEnd()
        }
        let origin = try RawOrigin(scripts: [answer, answer])
        let proxy = try RunningProxy()
        let (alice, bob) = (try proxy.connect(), try proxy.connect())
        // The second connection is a new one; otherwise its script would get no request.
        #expect(try self.user(alice, origin, "GET", "X-Login: alice") == "alice")
        #expect(try self.user(bob, origin, "DELETE") == "alice")
        for client in [alice, bob] { client.close() }
        origin.finish()
        _ = try proxy.recorded()
    }

    @Test func connectionClosesWithItsClient() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n")
            try connection.expectEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        #expect(try self.user(client, origin) == "")
        client.close()
        origin.finish()
        _ = try proxy.recorded()
    }
}
