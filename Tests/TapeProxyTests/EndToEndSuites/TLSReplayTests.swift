import CassetteModel
import CassettePlayback
import CassetteStore
import TapeTLS
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Sessions that consult the cassette before they dial: a replay needs neither the network nor name resolution.
@Suite struct TLSReplayTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private func record(_ paths: String...) throws -> (RawOrigin, TemporaryFolder) {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                for path in paths {
                    try stream.expectRequest("GET \(path)")
                    try stream.send(TLSScene.answer(path))
                }
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        for path in paths {
            try stream.send(TLSScene.request("GET", path))
            _ = try stream.readMessage()
        }
        origin.finish()
        try proxy.stop()
        return (origin, proxy.folder)
    }

    @Test func aReplayNeedsNoNameThatExists() throws {
        let (_, folder) = try self.record("/a")
        let replay = try self.scene.proxy(.none, in: folder)
        let stream = try self.scene.secure(replay.connect(), to: "example.test:443")
        #expect(stream.peerCertificates.first?.names == ["example.test"])
        try stream.send(TLSScene.request("GET", "/a"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("/a"))
        try replay.stop()
        #expect(replay.session.verdict().misses == 0)
        #expect(replay.session.verdict().unused.isEmpty)
    }

    @Test func aMissInsideTLSIsA424AndTheConnectionStays() throws {
        let (origin, folder) = try self.record("/a")
        let replay = try self.scene.proxy(.none, in: folder)
        let stream = try self.scene.secure(replay.connect(), to: origin.authority)
        try stream.send(TLSScene.request("GET", "/b"))
        let miss = String(decoding: try stream.readMessage(), as: UTF8.self)
        #expect(miss.hasPrefix("HTTP/1.1 424 Not In Cassette\r\nWiretape-Error: miss\r\n"))
        #expect(miss.contains("https://example.test/b"))
        try stream.send(TLSScene.request("GET", "/a"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("/a"))
        try replay.stop()
        #expect(replay.server.counts.misses == 1)
        #expect(replay.session.verdict().misses == 1)
        #expect(origin.accepted == 1)
    }

    @Test func plainHTTPIsNotAnsweredFromARecordingOverTLS() throws {
        let (origin, folder) = try self.record("/a")
        let replay = try self.scene.proxy(.none, in: folder)
        let client = try replay.connect()
        try TLSScene.tunnel(client, to: origin.authority)
        try client.send(TLSScene.request("GET", "/a", host: origin.authority))
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 424 "))
    }

    @Test func newEpisodesDialForAMissAlone() throws {
        let (old, folder) = try self.record("/a")
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /b")
                try stream.send(TLSScene.answer("new"))
            })
        let proxy = try self.scene.proxy(.newEpisodes, in: folder)
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request("GET", "/a"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("/a"))
        #expect(origin.accepted == 0)
        try stream.send(TLSScene.request("GET", "/b"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("new"))
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.map(\.request.url) == ["https://example.test/a", "https://example.test/b"])
        #expect(recorded.last?.timing.tls != nil)
        #expect(old.accepted == 1)
    }

    @Test func aFailedTunnelIsNoAnswerToALaterOne() throws {
        let live = try self.scene.proxy(.newEpisodes, in: self.scene.emptyCassette())
        let client = try live.connect()
        try TLSScene.tunnel(client, to: "example.test:8443")
        let untrusting = try TLSClient(trusting: TestAuthority()).stream(over: client)
        #expect(throws: TLSFailure.self) { try untrusting.handshake() }
        _ = try? untrusting.readToEnd()
        #expect(try live.recorded().count == 1)
        let replay = try self.scene.proxy(.none, in: live.folder)
        _ = try self.scene.secure(replay.connect(), to: "example.test:8443")
        #expect(replay.session.verdict().unused.isEmpty)
    }

    /// By address, and with another name in TLS.
    @Test func aRequestThroughATunnelIsRecordedUnderTheNameInItsHelloAndGoesWhereTheTunnelGoes() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                let head = try stream.expectRequest("GET /a")
                guard head.contains("\r\nHost: example.test\r\n") else { throw RawError(head) }
                try stream.send(TLSScene.answer("named"))
                // In absolute form as well.
                try stream.expectRequest("GET /b")
                try stream.send(TLSScene.answer("absolute"))
            })
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            let stream = try self.scene.secure(client, to: origin.authority)
            try stream.send(TLSScene.request("GET", "/a"))
            let first = try stream.readMessage()
            try stream.send("GET https://\(origin.authority)/b HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n")
            return LiveAndReplayed.Answer(bytes: first + (try stream.readMessage()))
        }
        #expect(answer.text == TLSScene.answer("named") + TLSScene.answer("absolute"))
        #expect(recorded.map(\.request.url) == ["https://example.test/a", "https://\(origin.authority)/b"])
    }
}
