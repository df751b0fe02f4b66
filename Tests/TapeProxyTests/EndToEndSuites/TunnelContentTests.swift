import CassetteModel
import CassettePlayback
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Tunnels that carry something other than TLS.
@Suite struct TunnelContentTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func tunnel(_ proxy: RunningProxy, _ origin: RawOrigin) throws -> RawConnection {
        let client = try proxy.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        return client
    }

    @Test func plainHTTPIsRecorded() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /a")
            guard head.contains("\r\nHost: 127.0.0.1:") else { throw RawError(head) }
            try connection.send(TLSScene.answer("first"))
            try connection.expectRequest("POST /b")
            try connection.expect("body")
            try connection.send(TLSScene.answer("second"))
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            // As async-http-client sends it: Host has no port.
            try client.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            try client.expect("HTTP/1.1 200 Connection established\r\n\r\n")
            try client.send(TLSScene.request("GET", "/a", host: origin.authority))
            let first = try client.readMessage()
            try client.send(TLSScene.request("POST", "/b", "Content-Length: 4", host: origin.authority, body: "body"))
            return LiveAndReplayed.Answer(bytes: first + (try client.readMessage()))
        }
        #expect(answer.text == TLSScene.answer("first") + TLSScene.answer("second"))
        #expect(recorded.map(\.request.url) == ["http://\(origin.authority)/a", "http://\(origin.authority)/b"])
        #expect(recorded.allSatisfy { $0.connection?.tls == nil })
    }

    @Test func requestsRightAfterTheCONNECTAreNotLost() throws {
        let origin = try RawOrigin { connection in
            for path in ["/1", "/2"] {
                try connection.expectRequest("GET \(path)")
                try connection.send(TLSScene.answer(path))
            }
        }
        let proxy = try self.scene.proxy()
        let client = try proxy.connect()
        try client.send(
            "CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n"
                + TLSScene.request("GET", "/1", host: origin.authority)
                + TLSScene.request("GET", "/2", host: origin.authority))
        try client.expect("HTTP/1.1 200 Connection established\r\n\r\n" + TLSScene.answer("/1") + TLSScene.answer("/2"))
        origin.finish()
    }

    @Test(arguments: [
        "SSH-2.0-client\r\n", "PRI * HTTP/3.0\r\n\r\n", "\u{0}\u{1}\u{2}", "CONNECT next.test:443 HTTP/1.1\r\n\r\n",
    ])
    func anythingElseIsRelayedUnread(first: String) throws {
        let origin = try RawOrigin { connection in
            try connection.expect(first + "more")
            try connection.send("HTTP/1.1 answers are not read either")
            try connection.expectEnd()
            try connection.send("late")
        }
        let proxy = try self.scene.proxy()
        let client = try self.tunnel(proxy, origin)
        try client.send(first)
        try client.send("more")
        try client.expect("HTTP/1.1 answers are not read either")
        client.closeOutput()
        try client.expect("late")
        try client.expectEnd()
        origin.finish()
        #expect(proxy.server.counts.tunnels == 1)
        #expect(try proxy.recorded().isEmpty)
    }

    @Test func aServerThatSpeaksFirstIsHeard() throws {
        let origin = try RawOrigin { connection in
            try connection.send("220 mail.test\r\n")
            try connection.expect("EHLO client.test\r\n")
            try connection.send("250 ok\r\n")
            try connection.expectEnd()
        }
        let proxy = try self.scene.proxy { $0.limits.tunnelSilence = 0 }
        let client = try self.tunnel(proxy, origin)
        try client.expect("220 mail.test\r\n")
        try client.send("EHLO client.test\r\n")
        try client.expect("250 ok\r\n")
        client.close()
        origin.finish()
    }

    @Test func aClientThatSpeaksOtherwiseAfterTheSilenceTakesTheSameConnection() throws {
        let dialled = Gate("the proxy has dialled")
        let origin = try RawOrigin { connection in
            dialled.open()
            try connection.expect("\u{1}late")
            try connection.send("heard")
        }
        let proxy = try self.scene.proxy { $0.limits.tunnelSilence = 0 }
        let client = try self.tunnel(proxy, origin)
        try dialled.wait()
        try client.send("\u{1}late")
        try client.expect("heard")
        origin.finish()
    }

    @Test func aClientThatSpeaksTLSAfterTheSilenceIsStillRead() throws {
        let dialled = Gate("the proxy has dialled")
        let tls = try self.scene.origin()
        let origin = try RawOrigin(
            { connection in
                dialled.open()
                // Closed, because nobody needs it.
                try connection.expectEnd()
            },
            tls.plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("read"))
            })
        let proxy = try self.scene.proxy { $0.limits.tunnelSilence = 0 }
        let client = try self.tunnel(proxy, origin)
        try dialled.wait()
        let stream = try self.scene.client.stream(over: client)
        try stream.handshake()
        try stream.send(TLSScene.request())
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("read"))
        origin.finish()
        #expect(try proxy.recorded().count == 1)
    }

    @Test func aClientThatSpeaksTLSAfterTheSilenceIsReplayedToo() throws {
        let tls = try self.scene.origin()
        let origin = try RawOrigin(
            tls.plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("read"))
            })
        let live = try self.scene.proxy()
        let first = try self.scene.secure(live.connect(), to: origin.authority)
        try first.send(TLSScene.request())
        _ = try first.readMessage()
        origin.finish()
        try live.stop()

        let replay = try self.scene.proxy(.none, in: live.folder) {
            $0.limits.tunnelSilence = 0
            $0.limits.clientIdle = 1
        }
        let client = try self.tunnel(replay, origin)
        // An idle connection is closed a second later than a silent tunnel is checked.
        let idle = try replay.connect()
        try idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try idle.readMessage()
        try idle.expectEnd()
        let stream = try self.scene.client.stream(over: client)
        try stream.handshake()
        try stream.send(TLSScene.request())
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("read"))
        #expect(origin.accepted == 1)
    }

    @Test func anOriginThatIsNotThereEndsTheTunnel() throws {
        let origin = try RawOrigin()
        origin.stop()
        let proxy = try self.scene.proxy()
        let client = try self.tunnel(proxy, origin)
        try client.send("SSH-2.0-client\r\n")
        try client.expectEnd()
    }

    @Test func aReplayRelaysNothingAndCountsIt() throws {
        let origin = try RawOrigin()
        let proxy = try self.scene.proxy(.none, in: self.scene.emptyCassette())
        let client = try self.tunnel(proxy, origin)
        try client.send("SSH-2.0-client\r\n")
        try client.expectEnd()
        #expect(origin.accepted == 0)
        #expect(proxy.server.counts.misses == 1)
        #expect(proxy.session.verdict().misses == 1)
    }
}
