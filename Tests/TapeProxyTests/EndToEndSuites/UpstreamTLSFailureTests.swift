import CassetteModel
import CassetteStore
import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

/// Origins whose TLS handshake fails: the request gets a 502, the cassette a failed exchange, and people a line.
@Suite struct UpstreamTLSFailureTests {
    private typealias Answer = LiveAndReplayed.Answer

    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    /// One request to an origin that fails. The next one tries again and fails again.
    private func failure(
        _ script: @escaping RawOrigin.Script, kind: String = "tls", attempts: Int = 2,
        configure: (inout ProxyConfiguration) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (answer: String, notices: [String]) {
        let origin = try RawOrigin(scripts: [RawOrigin.Script](repeating: script, count: attempts))
        let proxy = try self.scene.proxy(configure: configure)
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        var first = ""
        for path in ["/1", "/2"] {
            try stream.send(TLSScene.request("GET", path))
            let answer = String(decoding: try stream.readMessage(), as: UTF8.self)
            #expect(
                answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: \(kind)\r\n"), "\(answer)", sourceLocation: sourceLocation)
            if first.isEmpty { first = answer }
        }
        origin.finish(sourceLocation: sourceLocation)
        let notices = proxy.notices.lines
        let recorded = try proxy.recorded()
        #expect(recorded.map(\.request.url) == ["https://example.test/1", "https://example.test/2"], sourceLocation: sourceLocation)
        for interaction in recorded {
            guard case .failed(let failure) = interaction.outcome else { throw RawError("\(interaction.outcome) is not failed") }
            #expect(failure.kind.rawValue == kind, sourceLocation: sourceLocation)
            #expect(first.contains(failure.message), sourceLocation: sourceLocation)
        }
        let replay = try self.scene.proxy(.none, in: proxy.folder)
        let again = try self.scene.secure(replay.connect(), to: origin.authority)
        try again.send(TLSScene.request("GET", "/1"))
        #expect(String(decoding: try again.readMessage(), as: UTF8.self) == first, sourceLocation: sourceLocation)
        return (first, notices)
    }

    private func failure(showing leaf: Leaf, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let (answer, notices) = try self.failure(TLSOrigin(leaf).isRefused(), sourceLocation: sourceLocation)
        #expect(notices.count == 1, sourceLocation: sourceLocation)
        #expect(answer.contains(notices.first ?? "?"), sourceLocation: sourceLocation)
        return notices.first ?? ""
    }

    @Test func anInvalidCertificateIsReportedWithItsRemedy() throws {
        let origins = self.scene.origins
        #expect(try self.failure(showing: origins.leaf(for: ["example.test"], days: -400)).contains(": have it renewed"))
        #expect(try self.failure(showing: origins.leaf(for: ["example.test"], days: 10)).contains("is not valid before "))
        #expect(
            try self.failure(showing: origins.leaf(for: ["other.test"])).contains("the certificate is for \"other.test\": correct the name")
        )
        #expect(
            try self.failure(showing: TestAuthority().leaf(for: ["example.test"])).contains(
                "is unknown, or the server does not send its certificate"))
    }

    @Test func anOriginThatSpeaksPlainHTTPIsNoTLS() throws {
        let (answer, notices) = try self.failure { connection in
            _ = try connection.next()
            try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            _ = try connection.readToEnd()
        }
        #expect(answer.contains("what it sent is not TLS: is this port meant for http?"))
        #expect(notices.count == 1)
    }

    @Test func anOriginThatLeavesDuringTheHandshakeIsReported() throws {
        let (closed, _) = try self.failure { _ = try $0.next() }
        #expect(closed.contains("it closed the connection during the handshake"))
        let (reset, _) = try self.failure { connection in
            _ = try connection.next()
            connection.reset()
        }
        #expect(reset.contains("during the handshake"))
    }

    @Test func anOriginThatSaysNothingIsGivenUp() throws {
        let (answer, _) = try self.failure({ _ = try $0.readToEnd() }, configure: { $0.limits.tlsHandshake = 1 })
        #expect(answer.contains("the handshake took longer than 1 s"))
    }

    @Test func anOriginThatSpeaksOldVersionsIsNotSpokenTo() throws {
        let (answer, _) = try self.failure { connection in
            _ = try connection.next()
            // protocol_version (RFC 8446, 6.2).
            try connection.send([21, 3, 1, 0, 2, 2, 70])
            _ = try connection.readToEnd()
        }
        #expect(answer.contains("--upstream-tls-min 1.0"))
    }

    /// Everything is offered to it, in one more attempt.
    @Test func anOriginThatSpeaksNoHTTPIsReported() throws {
        let tls = try self.scene.origin(protocols: ["imap"])
        let (answer, _) = try self.failure(tls.isRefused(), attempts: 3)
        #expect(answer.contains("speaks neither HTTP/1.1 nor HTTP/2: --passthrough"), "\(answer)")
    }

    @Test func anOriginThatSpeaksHTTP2AloneIsTranslated() throws {
        let tls = try self.scene.origin(protocols: ["h2"])
        let origin = try RawOrigin(
            tls.isRefused(),
            tls.plays { stream in
                let peer = try HTTP2Peer(.server, over: stream)
                try peer.wait(for: "a request") { $0.ended.contains(1) }
                try peer.respond(1, 200, ["content-length: 4"], body: "pets")
                try peer.wait(for: "its end") { $0.closed[1] != nil }
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request("POST", "/1", "Content-Length: 2", body: "hi"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == "HTTP/1.1 200 \r\ncontent-length: 4\r\n\r\npets")
        origin.finish()
        #expect(proxy.notices.lines.isEmpty)
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.request.version == .http11 && recorded.response?.version == .http2 && recorded.connection?.tls?.alpn == "h2")
    }

    @Test func aRefusedConnectionIsOneOfTheRequest() throws {
        let origin = try RawOrigin()
        origin.stop()
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            let stream = try self.scene.secure(client, to: origin.authority)
            try stream.send(TLSScene.request())
            return Answer(bytes: try stream.readMessage())
        }
        #expect(answer.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: refused\r\n"))
        guard case .failed(let failure)? = recorded.first?.outcome else { throw RawError("\(recorded) is not failed") }
        #expect(failure.kind == .refused)
    }

    @Test func theNextRequestGetsThroughOnceTheOriginIsInOrder() throws {
        let good = try self.scene.origin()
        let origin = try RawOrigin(
            TLSOrigin(self.scene.origins.leaf(for: ["example.test"], days: -400)).isRefused(),
            good.plays { stream in
                try stream.expectRequest("GET /2")
                try stream.send(TLSScene.answer("now"))
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request("GET", "/1"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self).contains("Wiretape-Error: tls"))
        try stream.send(TLSScene.request("GET", "/2"))
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("now"))
        origin.finish()
    }

    // MARK: Certificates of ours

    @Test(arguments: [TLSVersion.tls12, .tls13]) func aMissingClientCertificateIsReported(version: TLSVersion) throws {
        let clients = try TestAuthority()
        let tls = try TLSOrigin(self.scene.origins.leaf(for: ["example.test"]), maximum: version, clients: clients)
        let origin = try RawOrigin(tls.isRefused(), tls.isRefused())
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        let answer = String(decoding: try stream.readMessage(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: tls\r\n"), "\(answer)")
        #expect(answer.contains("--client-cert example.test:\(origin.port)=CERT.pem,KEY.pem"))
        guard case .failed(let failure)? = try proxy.recorded().first?.outcome else { throw RawError("not failed") }
        #expect(failure.kind == .tls)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13]) func aCertificateThatIsWantedIsShown(version: TLSVersion) throws {
        let clients = try TestAuthority()
        let identity = try clients.identity(for: "client.test")
        let tls = try TLSOrigin(self.scene.origins.leaf(for: ["example.test"]), maximum: version, clients: clients)
        let origin = try RawOrigin(
            tls.plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("known"))
            })
        let hosts = try HostPattern("example.test")
        let proxy = try self.scene.proxy {
            $0.tls?.identities = [TLSSettings.IdentityRule(hosts: hosts, identity: identity)]
        }
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        #expect(String(decoding: try stream.readMessage(), as: UTF8.self) == TLSScene.answer("known"))
        origin.finish()
    }
}
