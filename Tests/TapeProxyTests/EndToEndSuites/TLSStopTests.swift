import Foundation
import TapeTLS
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Tunnels and handshakes that are open when the proxy stops, or that never finish.
@Suite struct TLSStopTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test func aStopEndsAllConnectionsWithinItsGrace() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { _ = try? $0.readToEnd() }, { _ = try? $0.readToEnd() })
        let proxy = try self.scene.proxy { $0.limits.grace = 1 }
        let fresh = try proxy.connect()
        try TLSScene.tunnel(fresh, to: origin.authority)
        let idle = try self.scene.secure(proxy.connect(), to: origin.authority)
        let relayed = try proxy.connect()
        try TLSScene.tunnel(relayed, to: origin.authority)
        try relayed.send("SSH-2.0-client\r\n")
        let half = try proxy.connect()
        try TLSScene.tunnel(half, to: origin.authority)
        try half.send([0x16, 3, 1, 2, 0])
        let started = Date()
        try proxy.stop()
        #expect(Date().timeIntervalSince(started) < 8)
        #expect(try idle.readToEnd().end == .closed, "nothing was in flight: a clean end")
        for connection in [fresh, relayed, half] { _ = try connection.readToEnd() }
        origin.finish()
        #expect(proxy.notices.lines.isEmpty)
    }

    @Test func manyStalledHandshakesAreClosedWithoutHarm() throws {
        let count = 200
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("beside them"))
            })
        let proxy = try self.scene.proxy { $0.limits.tlsHandshake = 2 }
        let stalled = try (0..<count).map { number in
            let client = try proxy.connect()
            try TLSScene.tunnel(client, to: "example.test:8443")
            try client.send([0x16, 3, 1, 2, 0] + [UInt8](repeating: 1, count: number))
            return client
        }
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("beside them"))
        origin.finish()
        for client in stalled { _ = try client.readToEnd() }
        #expect(proxy.notices.lines.count <= 2, "one line for each cause: \(proxy.notices.lines)")
        #expect(proxy.server.counts.tlsFailures == count)
        #expect(try proxy.recorded().count == count + 1)
    }

    @Test func secretsOfBothLegsAreLoggedWhereAsked() throws {
        let folder = try TemporaryFolder()
        let log = try #require(KeyLog(path: folder.file("keys.log")))
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("ok"))
            })
        let proxy = try self.scene.proxy { $0.tls?.keyLog = log }
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        _ = try stream.readMessage()
        origin.finish()
        try proxy.stop()
        let lines = String(decoding: try folder.read("keys.log"), as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.allSatisfy { $0.count == 3 && $0[1].count == 64 })
        // One set for each leg. The random number in its hello identifies it.
        for label in [
            "CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0",
        ] {
            #expect(Set(lines.filter { $0[0] == label }.map { $0[1] }).count == 2, "\(label)")
            #expect(lines.filter { $0[0] == label }.count == 2, "\(label)")
        }
    }
}
