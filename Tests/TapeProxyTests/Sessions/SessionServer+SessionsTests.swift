import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import NIOEmbedded
@testable import TapeProxy
import TapeTestSupport
import Testing

@Suite struct SessionServerSessionsTests {
    private let url = "http://origin.test/pets"

    @Test func aSessionIsFoundByItsCredentialsAlone() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette(self.url, "boris"), to: "a.json")
        let session = try running.server.open(SessionOrder(cassette: "a.json", mode: .none))
        for wrong in [nil, "s1:", "s1:wrong", "s2:\(session.token.revealed)", ":\(session.token.revealed)", "s1:\(RunningSessions.token)"] {
            let answer = try running.get(self.url, credentials: wrong, port: running.port)
            #expect(answer.hasPrefix("HTTP/1.1 407 "), "\(wrong ?? "nothing")")
        }
        #expect(try running.get(self.url, as: session).hasSuffix("\r\n\r\nboris"))
        let report = try running.server.end(session.name, keepsOld: false)
        #expect(report.verdict.hits == 1 && report.verdict.misses == 0 && report.exitStatus == 0)
        #expect(try running.get(self.url, as: session).hasPrefix("HTTP/1.1 407 "), "its credentials have ended with it")
    }

    @Test func aPortOfItsOwnWantsNoCredentials() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette(self.url, "boris"), to: "a.json")
        let session = try running.server.open(SessionOrder(cassette: "a.json", mode: .none, wantsPort: true))
        let port = try #require(session.port)
        #expect(try running.get(self.url, credentials: nil, port: port).hasSuffix("\r\n\r\nboris"))
        _ = try running.server.end(session.name, keepsOld: false)
        #expect(throws: RawError.self) { try RawConnection(port: port) }
    }

    @Test func oneConnectionMayGoFromSessionToSession() throws {
        let running = try RunningSessions()
        let names = ["a", "b"]
        let sessions = try names.map { name in
            try running.folder.write(RunningSessions.cassette(self.url, name), to: "\(name).json")
            return try running.server.open(
                SessionOrder(cassette: "\(name).json", mode: .none, settings: .session { $0[Settings.repetition] = .session(.last) }))
        }
        let client = try RawConnection(port: running.port)
        for index in [0, 1, 1, 0] {
            let pair = Data("\(sessions[index].name):\(sessions[index].token.revealed)".utf8).base64EncodedString()
            try client.send("GET \(self.url) HTTP/1.1\r\nHost: h\r\nProxy-Authorization: Basic \(pair)\r\n\r\n")
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\n\(names[index])"))
        }
        try client.send("GET \(self.url) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 407 "))
        #expect(sessions.map { $0.report().verdict.hits } == [2, 2])
    }

    @Test func sixteenSessionsRecordAndReplayTheSameURLsApart() throws {
        let count = 16
        let origin = try RawOrigin.numbered(count)
        let running = try RunningSessions()
        let url = "http://\(origin.authority)/pets"
        var answers: [String] = []
        // Each session uses its own connections to the origin, which answers each connection with its number: a shared pool would mix them
        // up.
        let recording = try (0..<count).map { try running.server.open(SessionOrder(cassette: "\($0).json")) }
        for session in recording { answers.append(try running.get(url, as: session)) }
        for session in recording { #expect(try running.get(url, as: session) == answers[recording.firstIndex { $0 === session } ?? 0]) }
        #expect(Set(answers).count == count)
        for session in recording {
            let report = try running.server.end(session.name, keepsOld: false)
            #expect(report.recorder?.recorded == 2 && report.exitStatus == 0)
        }
        origin.finish()

        let last = RunSettings.session { $0[Settings.repetition] = .session(.last) }
        let replaying = try (0..<count).map {
            try running.server.open(SessionOrder(name: SessionName("w\($0)"), cassette: "\($0).json", settings: last))
        }
        let wrong = Tally()
        let (port, wanted) = (running.port, answers)
        DispatchQueue.concurrentPerform(iterations: count * 10) { turn in
            let session = replaying[turn % count]
            let credentials = "\(session.name):\(session.token.revealed)"
            if (try? RunningSessions.get(url, credentials: credentials, port: port)) != wanted[turn % count] { wrong.add() }
        }
        #expect(wrong.count == 0)
        for session in replaying {
            let verdict = try running.server.end(session.name, keepsOld: false).verdict
            #expect(verdict.hits == 10 && verdict.misses == 0 && verdict.unused.isEmpty)
        }
    }

    @Test func anEndWaitsForRequestsUnderWayAndRecordsThem() throws {
        let asked = Gate("the origin has the request")
        let answer = Gate("the end has begun")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            asked.open()
            try answer.wait()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
        }
        let running = try RunningSessions { $0.limits.grace = 20 }
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let port = try #require(session.port)
        let idle = try RawConnection(port: port)
        let client = try RawConnection(port: port)
        try client.send(origin.request())
        try asked.wait()
        let ended = Gate("the session has ended")
        let server = running.server
        Thread {
            _ = try? server.end(session.name, keepsOld: false)
            ended.open()
        }.start()
        try idle.expectEnd()
        answer.open()
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\nlate"))
        try ended.wait()
        origin.finish()
        #expect(try RecordedExchanges.read(running.folder.file("a.json")).map(\.outcome) == [.complete])
    }

    @Test func anEndCutsExchangesAfterItsGrace() throws {
        let asked = Gate("the origin has the request")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            asked.open()
            try connection.expectEnd()
        }
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let other = try running.server.open(SessionOrder(cassette: "b.json", wantsPort: true))
        let client = try RawConnection(port: try #require(session.port))
        let neighbour = try RawConnection(port: try #require(other.port))
        try client.send(origin.request())
        try asked.wait()
        #expect(try running.server.end(session.name, keepsOld: false).recorder?.recorded == 1)
        origin.finish()
        // The other session's clients do not notice.
        try neighbour.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try neighbour.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
    }

    @Test func aTunnelStaysWithTheSessionOfItsConnect() throws {
        let scene = try TLSScene()
        let running = try RunningSessions { configuration in
            var proxy = ProxyConfiguration()
            scene.configure(&proxy)
            configuration.tls = proxy.tls
        }
        try running.folder.write(RunningSessions.cassette("http://example.test:8080/pets", "inside"), to: "a.json")
        let session = try running.server.open(SessionOrder(cassette: "a.json", mode: .none))
        let client = try RawConnection(port: running.port)
        let pair = Data("\(session.name):\(session.token.revealed)".utf8).base64EncodedString()
        try client.send("CONNECT example.test:8080 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 407 "))
        let next = try RawConnection(port: running.port)
        try next.send("CONNECT example.test:8080 HTTP/1.1\r\nHost: h\r\nProxy-Authorization: Basic \(pair)\r\n\r\n")
        #expect(String(decoding: try next.read(through: "\r\n\r\n"), as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
        try next.send("GET /pets HTTP/1.1\r\nHost: example.test:8080\r\n\r\n")
        #expect(String(decoding: try next.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\ninside"))
        let report = try running.server.end(session.name, keepsOld: false)
        #expect(report.verdict.hits == 1)
        try next.expectEnd()
    }

    @Test func aFailedRecordingStaysNextToTheOldCassette() throws {
        let running = try RunningSessions()
        let old = RunningSessions.cassette(self.url, "old")
        try running.folder.write(old, to: "a.json")
        let origin = try RawOrigin.numbered(1)
        let session = try running.server.open(SessionOrder(cassette: "a.json", mode: .all))
        _ = try running.get("http://\(origin.authority)/", as: session)
        let report = try running.server.end(session.name, keepsOld: true)
        origin.finish()
        #expect(report.file?.hasSuffix("/a.new.json") == true)
        #expect(try running.folder.read("a.json") == old)
    }
}

@Suite struct SessionLoopTests {
    @Test func eachSessionHasItsOwnWayToOrigins() throws {
        let unauthenticated = try EmbeddedProxy.context(EmbeddedEventLoop())
        unauthenticated.listens(on: "127.0.0.1", port: 7070)
        let stage = SessionLoop(shared: unauthenticated.shared, unauthenticated: unauthenticated)
        let contexts = try ["a.json", "b.json"].map {
            var configuration = ProxyConfiguration()
            configuration.cassetteName = $0
            return stage.makeContext(SharedSession(configuration: configuration, session: try CassetteSession(mode: .all)))
        }
        #expect(contexts[0].pool !== contexts[1].pool && contexts[0].dialing !== contexts[1].dialing)
        #expect(contexts.map(\.configuration.cassetteName) == ["a.json", "b.json"])
        #expect(contexts[0].address == "127.0.0.1:7070")
    }
}
