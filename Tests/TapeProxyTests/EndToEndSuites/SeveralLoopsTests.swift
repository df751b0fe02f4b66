import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import TapeProxy
@testable import TapeRecorder

/// One proxy on several event loops, among which connections are distributed. Its guarantees hold across all of them.
@Suite struct SeveralLoopsTests {
    private static let loopCounts = [2, 4]

    /// The client connections on each loop.
    private func members(_ proxy: RunningProxy) throws -> [Int] { try proxy.server.contexts.map { $0.members.count } }

    /// Connections that the proxy has accepted; each has received an answer.
    private func clients(_ count: Int, of proxy: RunningProxy) throws -> [RawConnection] {
        try (0..<count).map { _ in
            let client = try proxy.connect()
            try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try client.readMessage()
            return client
        }
    }

    private func ask(_ client: RawConnection, _ request: String) throws -> String {
        try client.send(request)
        return String(decoding: try client.readMessage(), as: UTF8.self)
    }

    @Test(arguments: loopCounts) func connectionsTakeTurnsOnTheLoops(loops: Int) throws {
        let proxy = try RunningProxy(.passthrough, loops: loops)
        let clients = try self.clients(3 * loops, of: proxy)
        #expect(try self.members(proxy) == Array(repeating: 3, count: loops))
        withExtendedLifetime(clients) {}
    }

    @Test(arguments: loopCounts) func theLimitOfConnectionsIsOneForAllLoops(loops: Int) throws {
        let proxy = try RunningProxy(.passthrough, loops: loops) { $0.limits.connections = 16 }
        let clients = try self.clients(16, of: proxy)
        for _ in 0..<loops {
            let answer = try proxy.connect().readToEnd().bytes
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
        }
        clients[5].close()
        // The count goes down when the close has arrived; until then there is no room.
        var answer = ""
        for _ in 0..<100_000 where !answer.hasPrefix("HTTP/1.1 200 ") {
            let client = try proxy.connect()
            _ = try? client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            answer = String(decoding: try client.readMessage(), as: UTF8.self)
        }
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: loopCounts) func everyLoopKnowsTheProxysOwnPort(loops: Int) throws {
        let proxy = try RunningProxy(.passthrough, loops: loops)
        for client in try self.clients(loops, of: proxy) {
            let authority = "localhost:\(proxy.server.port)"
            #expect(try self.ask(client, "GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n").hasPrefix("HTTP/1.1 508 "))
        }
    }

    @Test(arguments: loopCounts) func numbersAreUniqueAndCountsAreOfAllLoops(loops: Int) throws {
        let rounds = 3
        let origin = try RawOrigin.numbered(loops)
        let proxy = try RunningProxy(loops: loops)
        let clients = try self.clients(loops, of: proxy)
        for round in 0..<rounds {
            for (index, client) in clients.enumerated() {
                #expect(try self.ask(client, origin.request("GET", "/\(round)/\(index)")).hasPrefix("HTTP/1.1 200 "))
            }
        }
        #expect(proxy.server.counts.exchanges == loops * rounds)
        let recorded = try proxy.recorded()
        #expect(Set(recorded.map(\.id)).count == loops * rounds)
        #expect(recorded.map(\.started) == recorded.map(\.started).sorted())
        let urls = recorded.map { $0.request.url.split(separator: "/").suffix(2).joined(separator: "/") }
        #expect(urls == (0..<rounds).flatMap { round in (0..<loops).map { "\(round)/\($0)" } }, "in the order of their start")
        let connections = recorded.compactMap(\.connection)
        #expect(Set(connections.map(\.id)) == Set(1...loops), "a pool on each loop, a number for each connection")
        #expect(connections.count { !$0.isReused } == loops)
    }

    @Test(arguments: loopCounts) func aCassetteIsRecordedOnceAndGoesOn(loops: Int) throws {
        let origin = try RawOrigin.numbered(8 * loops)
        let first = try RunningProxy(.once, loops: loops)
        for (index, client) in try self.clients(loops, of: first).enumerated() {
            #expect(try self.ask(client, origin.request("GET", "/\(index)")).hasPrefix("HTTP/1.1 200 "))
        }
        #expect(try first.recorded().count == loops)

        let once = try RunningProxy(.once, in: first.folder, loops: loops)
        for (index, client) in try self.clients(2 * loops, of: once).enumerated() {
            let answer = try self.ask(client, origin.request("GET", "/\(index)"))
            #expect(answer.hasPrefix(index < loops ? "HTTP/1.1 200 " : "HTTP/1.1 424 "), "\(index)")
        }
        try once.stop()

        let more = try RunningProxy(.newEpisodes, in: first.folder, loops: loops)
        for (index, client) in try self.clients(2 * loops, of: more).enumerated() {
            #expect(try self.ask(client, origin.request("GET", "/\(index)")).hasPrefix("HTTP/1.1 200 "))
        }
        #expect(more.session.verdict().hits == loops && more.session.verdict().forwarded == loops)
        let recorded = try more.recorded()
        #expect(recorded.count == 2 * loops && Set(recorded.map(\.id)).count == 2 * loops)
    }

    @Test(arguments: loopCounts) func aFullRecorderStopsTheReadingOnEveryLoopAndItsDrainStartsIt(loops: Int) throws {
        let origin = try RawOrigin.numbered(loops + 1)
        let proxy = try RunningProxy(loops: loops)
        let recorder = try #require(proxy.recorder)
        let clients = try self.clients(loops, of: proxy)
        // Nothing is written until the gate is open, and there is more than the queue holds.
        let isHeld = Gate("the recorder is held")
        let gate = Gate("the recorder may go on")
        _ = recorder.put(
            .exchange(TapedExchanges.simple(recorder.nextID())) { _ in
                isHeld.open()
                try? gate.wait()
            })
        try isHeld.wait()
        let block = [UInt8](repeating: 0, count: RecorderQueue.highWater)
        #expect(recorder.put(.block(exchange: 4711, side: .response, bytes: block)))
        #expect(try proxy.server.contexts.map { $0.isRecorderFull }.allSatisfy { !$0 }, "no loop has been told")
        // The first loop learns about it through its own exchange, and tells the others.
        _ = try self.ask(clients[0], origin.request("GET", "/full"))
        #expect(try proxy.server.contexts.map { $0.isRecorderFull }.allSatisfy { $0 })
        for (index, client) in clients.enumerated() { try client.send(origin.request("GET", "/after/\(index)")) }
        gate.open()
        for client in clients { #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 200 ")) }
        #expect(try proxy.server.contexts.map { $0.isRecorderFull }.allSatisfy { !$0 })
        #expect(proxy.server.counts.exchanges == loops + 1)
    }

    /// A loop that learns about a full queue after it has drained would wait for a drain that never comes.
    @Test func wordOfAFullQueueThatComesLateIsNotBelieved() throws {
        let proxy = try RunningProxy(loops: 2)
        _ = try proxy.server.contexts.map { $0.recorderFilled() }
        #expect(try proxy.server.contexts.map { $0.isRecorderFull } == [false, false])
    }

    @Test(arguments: loopCounts) func aStopLetsRequestsUnderWayEndOnEveryLoop(loops: Int) throws {
        let asked = (0..<loops).map { _ in Gate("the origin has a request") }
        let answer = (0..<loops).map { _ in Gate("the stop has begun") }
        let origin = try RawOrigin(
            scripts: (0..<loops).map { index in
                { connection in
                    try connection.expectRequest("GET /")
                    asked[index].open()
                    try answer[index].wait()
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
                }
            })
        let proxy = try RunningProxy(loops: loops) { $0.limits.grace = 20 }
        let idle = try self.clients(loops, of: proxy)
        let clients = try (0..<loops).map { _ in try proxy.connect() }
        for client in clients { try client.send(origin.request()) }
        for gate in asked { try gate.wait() }
        let stopped = Gate("the proxy has stopped")
        let server = proxy.server
        proxy.isServerStopped = true
        Thread {
            server.stop()
            stopped.open()
        }.start()
        for client in idle { try client.expectEnd() }
        for gate in answer { gate.open() }
        for client in clients {
            #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\nlate"))
        }
        try stopped.wait()
        origin.finish()
        #expect(try proxy.recorded().map(\.outcome) == Array(repeating: .complete, count: loops))
    }

    @Test(arguments: loopCounts) func aStopCutsExchangesAfterItsGraceOnEveryLoop(loops: Int) throws {
        let origin = try RawOrigin(
            scripts: (0..<loops).map { _ in
                { connection in
                    try connection.expectRequest("GET /")
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
                    try connection.expectEnd()
                }
            })
        let proxy = try RunningProxy(loops: loops)
        let clients = try (0..<loops).map { _ in try proxy.connect() }
        for client in clients {
            try client.send(origin.request())
            _ = try client.read(through: "part")
        }
        let recorded = try proxy.recorded()
        for client in clients { try client.expectEnd() }
        origin.finish()
        #expect(recorded.count == loops)
        for interaction in recorded {
            guard case .cut(let cut) = interaction.outcome else { throw RawError("\(interaction.outcome) is not cut") }
            #expect(cut.by == .recorder)
        }
    }

    // MARK: TLS

    @Test func aTicketOfOneLoopResumesOnTheOther() throws {
        let scene = try TLSScene()
        let answers: @Sendable (TLSStream) throws -> Void = { connection in
            try connection.expectRequest("GET /")
            try connection.send(TLSScene.answer("ok"))
        }
        let origin = try RawOrigin(scene.origin("example.test").plays(answers), scene.origin("example.test").plays(answers))
        let proxy = try scene.proxy(.passthrough) { $0.loops = .own(2) }
        var resumed: [Bool] = []
        for _ in 0..<2 {
            let stream = try scene.secure(proxy.connect(), to: "127.0.0.1:\(origin.port)")
            resumed.append(stream.isResumed)
            try stream.send(TLSScene.request("GET", "/", "Connection: close"))
            #expect(String(decoding: try stream.readToEnd().bytes, as: UTF8.self).hasSuffix("ok"))
            // OpenSSL drops the session of a connection that was closed without a close_notify.
            try stream.sayGoodbye()
        }
        #expect(resumed == [false, true])
    }

    // MARK: Sessions

    @Test(arguments: loopCounts) func aSessionIsReachedAndEndedOnEveryLoop(loops: Int) throws {
        let url = "http://origin.test/pets"
        let running = try RunningSessions(loops: loops)
        try running.folder.write(RunningSessions.cassette(url, "boris"), to: "a.json")
        let session = try running.server.open(
            SessionOrder(cassette: "a.json", mode: .none, settings: .session { $0[Settings.repetition] = .session(.last) }, wantsPort: true)
        )
        let port = try #require(session.port)
        for _ in 0..<2 * loops {
            #expect(try running.get(url, as: session).hasSuffix("\r\n\r\nboris"))
            #expect(try running.get(url, credentials: nil, port: port).hasSuffix("\r\n\r\nboris"))
            for target in [running.controlPort, running.port, port] {
                #expect(try running.get("http://localhost:\(target)/", as: session).hasPrefix("HTTP/1.1 424 "), "nothing is dialled")
            }
        }
        // Found on the loops before; their clients are now disconnected.
        let idle = try (0..<loops).map { _ in
            let client = try RawConnection(port: port)
            try client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try client.readMessage()
            return client
        }
        let report = try running.server.end(session.name, keepsOld: false)
        for client in idle { try client.expectEnd() }
        #expect(report.verdict.hits == 4 * loops && report.counts.replayed == 4 * loops)
        for _ in 0..<loops { #expect(try running.get(url, as: session).hasPrefix("HTTP/1.1 407 ")) }
    }

    @Test(arguments: loopCounts) func noPortOfTheServerIsDialledOnAnyLoop(loops: Int) throws {
        let running = try RunningSessions(loops: loops)
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let port = try #require(session.port)
        for target in [running.controlPort, running.port, port] {
            for _ in 0..<loops {
                #expect(try running.get("http://127.1:\(target)/", credentials: nil, port: port).hasPrefix("HTTP/1.1 508 "))
            }
        }
    }

    @Test(arguments: loopCounts) func sessionsRecordApartOnEveryLoop(loops: Int) throws {
        let count = 5
        let origin = try RawOrigin.numbered(count * loops)
        let running = try RunningSessions(loops: loops)
        let sessions = try (0..<count).map { try running.server.open(SessionOrder(cassette: "\($0).json", wantsPort: true)) }
        for session in sessions {
            for turn in 0..<2 * loops {
                let url = "http://\(origin.authority)/\(session.name)/\(turn)"
                #expect(try running.get(url, credentials: nil, port: try #require(session.port)).hasPrefix("HTTP/1.1 200 "))
            }
        }
        for (index, session) in sessions.enumerated() {
            let report = try running.server.end(session.name, keepsOld: false)
            #expect(report.recorder?.recorded == 2 * loops && report.exitStatus == 0)
            let recorded = try RecordedExchanges.read(running.folder.file("\(index).json"))
            #expect(recorded.allSatisfy { $0.request.url.contains("/\(session.name)/") })
            #expect(Set(recorded.compactMap(\.connection?.id)).min() == 1, "numbers of its own")
        }
    }
}
