import TapeBytes
import CassetteModel
import NIOCore
import NIOEmbedded
import NIOPosix
import TapeExchange
@testable import TapeProxy
import Testing

@Suite struct ProxyContextTests {
    @Test func ownerThatWaitsForTheRecorderIsCalledOnce() throws {
        let proxy = try EmbeddedProxy.context(EmbeddedEventLoop())
        let owner = EmbeddedChannel()
        var calls: [Int] = []
        proxy.whenRecorderDrains(owner) { calls.append(1) }
        proxy.whenRecorderDrains(owner) { calls.append(2) }
        proxy.recorderDrained()
        proxy.recorderDrained()
        #expect(calls == [2], "one call per owner")
    }

    @Test func aCallMayWaitAgain() throws {
        let proxy = try EmbeddedProxy.context(EmbeddedEventLoop())
        let owner = EmbeddedChannel()
        var calls = 0
        proxy.whenRecorderDrains(owner) {
            calls += 1
            proxy.whenRecorderDrains(owner) { calls += 1 }
        }
        proxy.recorderDrained()
        #expect(calls == 1)
        proxy.recorderDrained()
        #expect(calls == 2)
    }

    @Test func anIPv6AddressIsShownInBrackets() throws {
        let loop = EmbeddedEventLoop()
        let proxy = try EmbeddedProxy.context(loop)
        proxy.listens(on: "::1", port: 7070)
        #expect(proxy.address == "[::1]:7070")
    }

    @Test func aStopWithoutConnectionsIsDoneAtOnce() throws {
        let loop = EmbeddedEventLoop()
        let proxy = try EmbeddedProxy.context(loop)
        let done = loop.makePromise(of: Void.self)
        proxy.stop(then: done)
        try done.futureResult.wait()
        #expect(proxy.isStopping)
    }
}

@Suite struct DirectDialingTests {
    /// The result of a connection, as values.
    private struct Result: Equatable {
        var info: ConnectionInfo?
        var hasTLSTime = false
        var names: [String] = []
        var failure: Failure?
    }

    private let notices = NoticeList()

    /// Connects once and closes.
    private func connect(_ route: UpstreamRoute, settings: TLSSettings? = nil, seconds: Int = 20) throws -> Result {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let loop = group.next()
        let promise = loop.makePromise(of: Result.self)
        let notices = self.notices
        loop.execute {
            var limits = ProxyLimits()
            limits.tlsHandshake = seconds
            do {
                let shared = ProxyLoop(
                    loop: loop, limits: limits, server: try SharedServer(tls: settings), resolver: NameResolver(), disk: .shared)
                let dialing = DirectDialing(
                    shared: shared, pool: UpstreamPool(limits: limits, clock: shared.clock),
                    diagnosis: Diagnosis(counts: Guarded(ProxyCounts()), notice: notices.add), nextID: { 1 })
                dialing.open(route, lookup: nil) { result in
                    // It must live as long as its connections are being made.
                    withExtendedLifetime(dialing) {}
                    switch result {
                    case .success(let upstream):
                        let (info, timing) = upstream.use()
                        promise.succeed(Result(info: info, hasTLSTime: timing?.tls != nil, names: upstream.takePeerNames()))
                        upstream.cancel()
                    case .failure(.failed(let failure)): promise.succeed(Result(failure: failure))
                    case .failure(.loop), .failure(.stopped): promise.fail(RawError("a loop, or a stop"))
                    }
                }
            } catch {
                promise.fail(error)
            }
        }
        return try promise.futureResult.wait()
    }

    private func settings(_ scene: TLSScene) -> TLSSettings? {
        var configuration = ProxyConfiguration()
        scene.configure(&configuration)
        return configuration.tls
    }

    private func route(_ origin: RawOrigin, serverName: String? = "example.test") -> UpstreamRoute {
        UpstreamRoute(
            Origin(scheme: .https, host: "127.0.0.1", port: origin.port), serverName: serverName, protocols: ["http/1.1"])
    }

    @Test func aPlainConnectionHasNoTLS() throws {
        let origin = try RawOrigin { try $0.expectEnd() }
        let result = try self.connect(UpstreamRoute(Origin(scheme: .http, host: "127.0.0.1", port: origin.port)))
        #expect(result.info == ConnectionInfo(id: 1, remote: origin.authority, isReused: false))
        #expect(!result.hasTLSTime)
        origin.finish()
    }

    @Test func aSecureConnectionIsReadyAfterItsHandshake() throws {
        let scene = try TLSScene()
        let origin = try RawOrigin(scene.origin("example.test", "b.test").plays { try $0.expectEnd() })
        let result = try self.connect(self.route(origin), settings: self.settings(scene))
        #expect(result.info?.tls?.sni == "example.test")
        #expect(result.info?.tls?.alpn == "http/1.1")
        #expect(result.hasTLSTime)
        #expect(result.names == ["example.test", "b.test"])
        origin.finish()
    }

    @Test func aFailedHandshakeIsReportedAndReturned() throws {
        let scene = try TLSScene()
        let origin = try RawOrigin(scene.origin("other.test").isRefused())
        let failure = try #require(try self.connect(self.route(origin), settings: self.settings(scene)).failure)
        #expect(failure.kind == .tls)
        #expect(failure.message.hasPrefix("TLS to \"example.test:\(origin.port)\": the certificate is for \"other.test\": "))
        #expect(self.notices.lines == [failure.message])
        origin.finish()
    }

    @Test func anOriginThatSaysNothingTakesTheTimeOfAHandshake() throws {
        let scene = try TLSScene()
        let origin = try RawOrigin { _ = try $0.readToEnd() }
        let failure = try self.connect(self.route(origin), settings: self.settings(scene), seconds: 1).failure
        #expect(failure?.message.contains("the handshake took longer than 1 s") == true)
        origin.finish()
    }

    @Test func aRefusedConnectionIsNoMatterOfTLS() throws {
        let (descriptor, port) = try RawSocket.bound("127.0.0.1", listens: false)
        defer { RawConnection(descriptor: descriptor).close() }
        let route = UpstreamRoute(Origin(scheme: .https, host: "127.0.0.1", port: port))
        let scene = try TLSScene()
        #expect(try self.connect(route, settings: self.settings(scene)).failure?.kind == .refused)
        #expect(self.notices.lines.isEmpty)
    }

    @Test func withoutSettingsThereIsNoTLS() throws {
        let origin = try RawOrigin()
        let failure = try self.connect(self.route(origin)).failure
        #expect(failure?.kind == .tls)
        #expect(failure?.message.contains("this proxy was started without TLS") == true)
        #expect(origin.accepted == 0)
    }
}
