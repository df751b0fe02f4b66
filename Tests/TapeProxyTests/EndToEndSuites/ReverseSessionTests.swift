import CassetteStore
import Testing
@testable import TapeProxy

/// Sessions of one server, addressed by URLs in the path: by name and token before the URL, or at a port of their own.
@Suite struct ReverseSessionTests {
    private static let url = "https://origin.test/pets"

    private func open(_ running: RunningSessions, _ name: String, port: Bool = false) throws -> OpenSession {
        try running.folder.write(RunningSessions.cassette(Self.url, name), to: "\(name).json")
        return try running.server.open(SessionOrder(cassette: "\(name).json", mode: .none, wantsPort: port))
    }

    private func get(_ path: String, port: Int) throws -> String {
        let client = try RawConnection(port: port)
        try client.send("GET /\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
        return String(decoding: try client.readToEnd().bytes, as: UTF8.self)
    }

    @Test func eachTokenLeadsToItsSession() throws {
        let running = try RunningSessions()
        for name in ["boris", "rex"] {
            let session = try self.open(running, name)
            let answer = try self.get("\(session.name):\(session.token.revealed)/\(Self.url)", port: running.port)
            #expect(answer.hasSuffix("\r\n\r\n\(name)"), "\(answer)")
        }
    }

    @Test func withoutATokenItSaysWhereOneGoes() throws {
        let running = try RunningSessions()
        let session = try self.open(running, "boris")
        for prefix in ["", "\(session.name):wrong/", "nobody:\(session.token.revealed)/"] {
            let answer = try self.get("\(prefix)\(Self.url)", port: running.port)
            #expect(answer.hasPrefix("HTTP/1.1 403 Forbidden\r\nWiretape-Error: proxy-authentication\r\n"), "\(answer)")
            #expect(answer.contains("/NAME:TOKEN/https://host/path"))
        }
    }

    /// Libraries share one HTTP/2 connection for all requests to one port.
    @Test func theStreamsOfOneConnectionAreEachInTheSessionThatTheyName() throws {
        let running = try RunningSessions()
        let sessions = try ["boris", "rex"].map { try self.open(running, $0) }
        let client = try HTTP2Peer(.client, over: RawConnection(port: running.port))
        func path(_ session: OpenSession) -> String { "\(session.name):\(session.token.revealed)/\(Self.url)" }
        // Both run at once, and the first continues when the second has begun.
        let uploads = try sessions.map { try client.request(path($0), hasBody: true) }
        let wrong = try client.request("\(sessions[0].name):wrong/\(Self.url)")
        for id in uploads { client.codec.end(id) }
        try client.flush()
        try client.wait(for: "all answers") { $0.ended.isSuperset(of: uploads + [wrong]) }
        #expect(uploads.map { client.text($0) } == ["boris", "rex"])
        #expect(client.heads[wrong]?.status == 403)

        // When one session ends, the other keeps the connection.
        let report = try running.server.end(sessions[0].name, keepsOld: true)
        #expect(report.counts.replayed == 1)
        let late = try client.request(path(sessions[0]))
        let other = try client.request(path(sessions[1]))
        try client.wait(for: "the answers") { $0.ended.contains(late) && $0.ended.contains(other) }
        #expect(client.heads[late]?.status == 403 && !client.hasGoAway)
        #expect(client.heads[other]?.status == 424)
        #expect(try running.server.end(sessions[1].name, keepsOld: true).counts.misses == 1)
    }

    @Test func aPortOfItsOwnNeedsNone() throws {
        let running = try RunningSessions()
        let session = try self.open(running, "boris", port: true)
        #expect(try self.get(Self.url, port: try #require(session.port)).hasSuffix("\r\n\r\nboris"))
    }

    @Test func theControlAPITellsTheBase() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette(Self.url, "boris"), to: "boris.json")
        let (status, body) = try running.ask("POST", "/sessions", body: #"{"cassette": "boris.json", "mode": "none"}"#)
        #expect(status == 201)
        let base = try #require(body["reverse"] as? String)
        #expect(base.hasPrefix("http://127.0.0.1:\(running.port)/s1:") && base.hasSuffix("/"))
        let path = base.split(separator: "/", maxSplits: 2)[2]
        #expect(try self.get("\(path)\(Self.url)", port: running.port).hasSuffix("\r\n\r\nboris"))
    }

    @Test func theControlPortIsNoOrigin() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette(Self.url, "boris"), to: "boris.json")
        let session = try running.server.open(SessionOrder(cassette: "boris.json", mode: .newEpisodes))
        let prefix = "\(session.name):\(session.token.revealed)"
        for port in [running.port, running.controlPort] {
            #expect(try self.get("\(prefix)/http://127.0.0.1:\(port)/sessions", port: running.port).hasPrefix("HTTP/1.1 508 "))
        }
    }
}
