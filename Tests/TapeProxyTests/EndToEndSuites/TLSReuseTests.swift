import CassetteModel
import TapeTLS
import TapeTestSupport
import Testing
@testable import TapeProxy

/// The recorded details of upstream connections: numbers, reuse, certificates, times, sessions.
@Suite struct TLSReuseTests {
    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    private static func serves(_ tls: TLSOrigin, _ paths: String...) -> RawOrigin.Script {
        tls.plays { stream in
            for path in paths {
                try stream.expectRequest("GET \(path)")
                try stream.send(TLSScene.answer(path))
            }
        }
    }

    private func ask(_ stream: TLSStream, _ path: String, _ fields: String = "X: y", host: String = "example.test") throws {
        try stream.send(TLSScene.request("GET", path, fields, host: host))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self).hasSuffix("\r\n\r\n\(path)"))
    }

    @Test func aConnectionMadeAheadIsTheFirstRequestsOwn() throws {
        let origin = try RawOrigin(Self.serves(self.scene.origin(), "/1", "/2"))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try self.ask(stream, "/1")
        try self.ask(stream, "/2")
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.map { $0.connection?.id } == [1, 1])
        #expect(recorded.map { $0.connection?.isReused } == [false, true])
        #expect(recorded.map { $0.connection?.remote } == [origin.authority, origin.authority])
        #expect(recorded.map { $0.timing.tls != nil } == [true, false])
        #expect(recorded.map { $0.timing.connect != nil } == [true, false])
        #expect(recorded.allSatisfy { ($0.timing.tls ?? 0) >= 0 })
        let first = try #require(recorded[0].connection?.tls)
        let second = try #require(recorded[1].connection?.tls)
        #expect(first.chain.map(\.subject) == ["CN=example.test"])
        #expect(first.chain.first?.issuer == (try self.scene.origins.summary.subject))
        #expect(first.chain.first?.sha256.count == 64)
        #expect(second.chain.isEmpty)
        for details in [first, second] {
            #expect(details.version == "TLSv1.3")
            #expect(details.cipher.hasPrefix("TLS_"))
            #expect(details.alpn == "http/1.1")
            #expect(details.sni == "example.test")
            #expect(!details.isResumed)
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13]) func sessionsAreResumedOnBothLegs(version: TLSVersion) throws {
        let tls = try self.scene.origin(maximum: version)
        let origin = try RawOrigin(Self.serves(tls, "/1"), Self.serves(tls, "/2"))
        let scene = try TLSScene(maximum: version)
        let proxy = try RunningProxy { configuration in
            self.scene.configure(&configuration)
            configuration.tls?.authority = scene.authority.settings.authority
        }
        var resumed: [Bool] = []
        for path in ["/1", "/2"] {
            let stream = try scene.secure(proxy.connect(), to: origin.authority)
            resumed.append(stream.isResumed)
            // Uses a new connection on both legs.
            try self.ask(stream, path, "Connection: close")
            _ = try stream.readToEnd()
            // OpenSSL drops the session of a connection that was closed without a close_notify.
            try stream.sayGoodbye()
        }
        origin.finish()
        #expect(resumed == [false, true])
        let recorded = try proxy.recorded()
        #expect(recorded.map { $0.connection?.id } == [1, 2])
        #expect(recorded.map { $0.connection?.isReused } == [false, false])
        #expect(recorded.map { $0.connection?.tls?.isResumed } == [false, true])
        #expect(recorded.map { $0.connection?.tls?.chain.count } == [1, 1])
        #expect(recorded.map { $0.timing.tls != nil } == [true, true])
    }

    @Test func anotherTunnelTakesTheIdleConnection() throws {
        let origin = try RawOrigin(Self.serves(self.scene.origin(), "/1", "/2"))
        let proxy = try self.scene.proxy()
        for path in ["/1", "/2"] {
            let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
            try self.ask(stream, path)
            stream.closeOutput()
        }
        origin.finish()
        #expect(origin.accepted == 1)
        #expect(try proxy.recorded().map { $0.connection?.isReused } == [false, true])
    }

    @Test func anotherNameOrOfferHasConnectionsOfItsOwn() throws {
        let tls = try self.scene.origin("example.test", "other.test")
        let origin = try RawOrigin(Self.serves(tls, "/1"), Self.serves(tls, "/2"), Self.serves(tls, "/3"))
        let proxy = try self.scene.proxy()
        try self.ask(self.scene.secure(proxy.connect(), to: origin.authority), "/1")
        try self.ask(self.scene.secure(proxy.connect(), to: origin.authority, serverName: "other.test"), "/2", host: "other.test")
        try self.ask(self.scene.secure(proxy.connect(), to: origin.authority, protocols: []), "/3")
        origin.finish()
        #expect(try proxy.recorded().map { $0.connection?.id } == [1, 2, 3])
    }

    @Test(arguments: [true, false]) func anOriginThatClosesAnIdleConnectionIsDialledAgain(saysGoodbye: Bool) throws {
        let tls = try self.scene.origin()
        let closed = Gate("the origin has closed")
        let origin = try RawOrigin(
            tls.plays { stream in
                try stream.expectRequest("GET /1")
                try stream.send(TLSScene.answer("/1"))
                if saysGoodbye { stream.closeOutput() } else { stream.cutOutput() }
                // The proxy has closed as well, so it knows.
                _ = try? stream.readToEnd()
                closed.open()
            }, Self.serves(tls, "/2"))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try self.ask(stream, "/1")
        try closed.wait()
        try self.ask(stream, "/2")
        origin.finish()
        #expect(try proxy.recorded().map { $0.connection?.id } == [1, 2])
        #expect(proxy.notices.lines.isEmpty)
    }

    @Test func anOriginThatClosesWhileARequestIsOnItsWayIsAskedAgain() throws {
        let tls = try self.scene.origin()
        let origin = try RawOrigin(
            tls.plays { stream in
                try stream.expectRequest("GET /1")
                try stream.send(TLSScene.answer("/1"))
                try stream.expectRequest("GET /2")
                stream.cutOutput()
            }, Self.serves(tls, "/2"))
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try self.ask(stream, "/1")
        try self.ask(stream, "/2")
        origin.finish()
        #expect(try proxy.recorded().map { $0.connection?.id } == [1, 2])
    }

    @Test func aSecondContactIsNotDialledAhead() throws {
        let tls = try self.scene.origin()
        let origin = try RawOrigin(Self.serves(tls, "/1"))
        let proxy = try self.scene.proxy()
        try self.ask(self.scene.secure(proxy.connect(), to: origin.authority), "/1", "Connection: close")
        origin.finish()
        // The leaf exists, so no origin is asked for names.
        _ = try self.scene.secure(proxy.connect(), to: origin.authority)
        #expect(origin.accepted == 1)
    }
}
