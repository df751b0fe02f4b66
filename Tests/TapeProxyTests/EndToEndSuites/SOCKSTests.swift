import CassetteModel
import CassetteStore
import TapeExchange
import TapeTestSupport
@testable import TapeProxy
import Testing

/// Clients that open their tunnels by SOCKS 5.
@Suite struct SOCKSTests {
    private static func open(_ connection: RawConnection, to host: [UInt8], port: Int) throws {
        try connection.send([5, 1, 0])
        #expect(try connection.read(count: 2) == [5, 0])
        try connection.send([5, 1, 0] + host + [UInt8(port >> 8), UInt8(port & 255)])
        #expect(try connection.read(count: 10) == SOCKS5.Reply.granted.bytes)
    }

    private static let name: [UInt8] = [3, 9] + Array("localhost".utf8)

    @Test func requestsInClearAreRecordedAndReplayed() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.expectRequest("GET /a")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        let request = "GET /a HTTP/1.1\r\nHost: localhost:\(origin.port)\r\nConnection: close\r\n\r\n"
        let scene = try TLSScene()
        func ask(_ proxy: RunningProxy) throws -> String {
            let client = try proxy.connect()
            try Self.open(client, to: Self.name, port: origin.port)
            try client.send(request)
            return String(decoding: try client.readToEnd().bytes, as: UTF8.self)
        }
        let live = try scene.proxy()
        #expect(try ask(live).hasSuffix("\r\n\r\nhi"))
        origin.finish()
        #expect(try live.recorded().map(\.request.url) == ["http://localhost:\(origin.port)/a"])
        #expect(try ask(scene.proxy(.none, in: live.folder)).hasSuffix("\r\n\r\nhi"))
    }

    @Test func aStopDoesNotWaitForAnUnfinishedRequest() throws {
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send([5, 1, 0])
        #expect(try client.read(count: 2) == [5, 0])
        _ = try proxy.stop()
        #expect(try client.readToEnd().bytes.isEmpty)
    }

    @Test func tlsIsOpenedAsInATunnel() throws {
        let scene = try TLSScene()
        let origin = try RawOrigin(
            scene.origin("example.test").plays { stream in
                _ = try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("hi"))
            })
        let proxy = try scene.proxy()
        let connection = try proxy.connect()
        try Self.open(connection, to: [1, 127, 0, 0, 1], port: origin.port)
        let client = try scene.client.stream(over: connection, host: "example.test", serverName: "example.test", protocols: ["http/1.1"])
        try client.handshake()
        try client.send(TLSScene.request("GET", "/", "Connection: close"))
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\nhi"))
        origin.finish()
        #expect(try proxy.recorded().map(\.request.url) == ["https://example.test/"])
    }

    @Test func aPortWithAPasswordAsksForIt() throws {
        let proxy = try RunningProxy { $0.credentials = "me:pw" }
        let stranger = try proxy.connect()
        try stranger.send([5, 1, 0])
        #expect(try stranger.readToEnd().bytes == [5, 255])
        for (password, answer) in [("no", [5, 2, 1, 1]), ("pw", [5, 2, 1, 0])] as [(String, [UInt8])] {
            let client = try proxy.connect()
            try client.send([5, 1, 2, 1, 2] + Array("me".utf8) + [2] + Array(password.utf8))
            #expect(try client.read(count: 4) == answer)
        }
        #expect(proxy.notices.lines.contains { $0.contains("offers no user and password") })
    }

    @Test func theLoginNamesTheSession() throws {
        // A session without TLS opens no tunnels in a replay.
        let authority = try TestAuthority()
        let running = try RunningSessions { $0.tls = authority.settings }
        try running.folder.write(RunningSessions.cassette("http://origin.test/", "replayed"), to: "tape.json")
        let session = try running.server.open(SessionOrder(cassette: "tape.json", mode: RecordMode.none))
        let client = try RawConnection(port: running.port)
        let (user, password) = (Array("\(session.name)".utf8), Array(session.token.revealed.utf8))
        try client.send([5, 1, 2, 1, UInt8(user.count)] + user + [UInt8(password.count)] + password)
        #expect(try client.read(count: 4) == [5, 2, 1, 0])
        try client.send([5, 1, 0, 3, 11] + Array("origin.test".utf8) + [0, 80])
        let reply = try client.read(count: 10)
        #expect(reply == SOCKS5.Reply.granted.bytes)
        try client.send("GET / HTTP/1.1\r\nHost: origin.test\r\nConnection: close\r\n\r\n")
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\nreplayed"))
    }

    @Test func aTunnelToTheProxyItselfIsRefused() throws {
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, UInt8(proxy.server.port >> 8), UInt8(proxy.server.port & 255)])
        #expect(try client.readToEnd().bytes == [5, 0] + SOCKS5.Reply.notAllowed.bytes)
    }

    @Test func aDeadOriginIsReportedAsSuch() throws {
        let origin = try RawOrigin()
        origin.stop()
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, UInt8(origin.port >> 8), UInt8(origin.port & 255)])
        #expect(try client.readToEnd().bytes == [5, 0] + SOCKS5.Reply.refused.bytes)
    }
}
