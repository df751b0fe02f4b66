import CassettePlayback
import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct SessionServerTests {
    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "example.com"]) func sessionsAreForThisMachineAlone(_ host: String) throws {
        let folder = try TemporaryFolder()
        let configuration = SessionServerConfiguration(host: host, folder: try CassetteFolder(folder.path), version: "1")
        let error = #expect(throws: ProxyError.self) { try SessionServer.start(configuration) }
        #expect(error?.code == .remoteNotAllowed)
    }

    @Test func nothingIsForwardedReplayedOrRecordedForWhoNamesNoSession() throws {
        let running = try RunningSessions(loops: 2)
        let lobbies = try running.server.stages.map { stage in
            [stage.lobby.session.mayForward, stage.lobby.session.looksUp, stage.lobby.recorder != nil, stage.lobby.library != nil]
        }
        #expect(lobbies == [[false, false, false, false], [false, false, false, false]])
    }

    @Test func aPortInUseIsTold() throws {
        let running = try RunningSessions()
        let configuration = SessionServerConfiguration(port: running.port, folder: running.server.configuration.folder, version: "1")
        let error = #expect(throws: ProxyError.self) { try SessionServer.start(configuration) }
        #expect(error?.code == .cannotListen)
    }

    @Test func aStopClosesEveryCassetteAndReplacesNone() throws {
        let running = try RunningSessions()
        let old = RunningSessions.cassette("http://origin.test/", "old")
        try running.folder.write(old, to: "old.json")
        let origin = try RawOrigin.numbered(2)
        let url = "http://\(origin.authority)/"
        let new = try running.server.open(SessionOrder(cassette: "new.json"))
        let replacing = try running.server.open(SessionOrder(cassette: "old.json", mode: .all))
        for session in [new, replacing] { _ = try running.get(url, as: session) }
        let reports = running.stop()
        origin.finish()
        #expect(reports.map(\.name) == [new.name, replacing.name])
        #expect(reports.allSatisfy { !$0.isOpen && $0.recorder?.recorded == 1 && $0.problem == nil })
        #expect(try running.folder.read("old.json") == old, "nobody has said that the new one is whole")
        #expect(try RecordedExchanges.read(running.folder.file("old.new.json")).count == 1)
        #expect(try RecordedExchanges.read(running.folder.file("new.json")).count == 1)
    }

    @Test func thereAreNoMoreThanTheLimit() throws {
        let running = try RunningSessions()
        // All with a recorder, which has a thread, and with a port.
        for number in 0..<SessionServer.sessionLimit {
            _ = try running.server.open(SessionOrder(cassette: "\(number).json", wantsPort: true))
        }
        let error = #expect(throws: SessionError.self) { try running.server.open(SessionOrder(cassette: "one-more.json")) }
        #expect(error?.code == .tooMany)
        let reports = running.stop()
        #expect(reports.count == SessionServer.sessionLimit && reports.allSatisfy { $0.problem == nil })
    }

    /// However a client spells the loopback address, and whether or not it has the token.
    @Test(arguments: [
        "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1", "0x7f.1", "[::ffff:127.0.0.1]", "127.9.9.9", "LOCALHOST",
        "[::]",
    ])
    func theControlAPIIsNotReachedThroughASession(_ host: String) throws {
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let port = try #require(session.port)
        let fields = ["Authorization: Bearer \(RunningSessions.token)"]
        for target in [running.controlPort, running.port, port] {
            let url = "http://\(host):\(target)/sessions"
            #expect(try running.get(url, as: session, fields: fields).hasPrefix("HTTP/1.1 508 "), "\(url)")
            #expect(try running.get(url, credentials: nil, port: port, fields: fields).hasPrefix("HTTP/1.1 508 "), "\(url)")
        }
        let client = try RawConnection(port: port)
        try client.send("CONNECT \(host):\(running.controlPort) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try client.readToEnd().octets, as: UTF8.self).hasPrefix("HTTP/1.1 508 "))
    }

    @Test func aPortThatASessionGaveBackIsAnOriginsAgain() throws {
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let port = try #require(session.port)
        _ = try running.server.end(session.name, keepsOld: false)
        let next = try running.server.open(SessionOrder(cassette: "b.json"))
        // Any other program may have it by now.
        #expect(try !running.get("http://127.0.0.1:\(port)/", as: next).hasPrefix("HTTP/1.1 508 "), "no loop")
    }
}
