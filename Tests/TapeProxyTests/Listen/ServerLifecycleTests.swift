import CassettePlayback
import CassetteStore
import NIOCore
import NIOEmbedded
import NIOPosix
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Servers that a foreign process starts and stops.
@Suite struct ServerLifecycleTests {
    private func start(_ loops: EventLoopProvider = .own(2)) async throws -> ProxyServer {
        var configuration = ProxyConfiguration(loops: loops)
        configuration.limits.grace = 1
        return try await ProxyServer.start(configuration, session: try CassetteSession(mode: .passthrough))
    }

    private func isServing(_ port: Int) throws -> Bool {
        guard let client = try? RawConnection(port: port) else { return false }
        try client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        return String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 ")
    }

    @Test func aServerServesUntilItIsStopped() async throws {
        let server = try await self.start()
        #expect(try self.isServing(server.port))
        await server.stop()
        #expect(try !self.isServing(server.port))
    }

    @Test func aStartThatFailsIsAProxyError() async throws {
        let server = try await self.start()
        var configuration = ProxyConfiguration(port: server.port)
        let session = try CassetteSession(mode: .passthrough)
        let taken = await #expect(throws: ProxyError.self) { try await ProxyServer.start(configuration, session: session) }
        #expect(taken?.code == .cannotListen)
        configuration.host = "192.0.2.1"
        let remote = await #expect(throws: ProxyError.self) { try await ProxyServer.start(configuration, session: session) }
        #expect(remote?.code == .remoteNotAllowed)
        await server.stop()
    }

    /// A caller that tries repeatedly until a port is free keeps nothing of the failed attempts.
    /// Whether nothing holds an object any more. The last to hold it may be a thread that is about to end.
    private func isReleased(_ object: () -> AnyObject?) async -> Bool {
        for _ in 0..<1_000_000 where object() != nil { await Task.yield() }
        return object() == nil
    }

    @Test func aStartThatFailsLeavesNothing() async throws {
        let server = try await self.start()
        weak var left: CassetteSession?
        do {
            let session = try CassetteSession(mode: .passthrough)
            left = session
            let configuration = ProxyConfiguration(port: server.port, loops: .own(2))
            await #expect(throws: ProxyError.self) { try await ProxyServer.start(configuration, session: session) }
        }
        #expect(await self.isReleased { left })
        await server.stop()
    }

    @Test func loopsWithoutSocketsAreRefused() async throws {
        let error = await #expect(throws: ProxyError.self) { try await self.start(.shared(EmbeddedEventLoop())) }
        #expect(error?.code == .invalidEventLoops)
    }

    @Test func aRunEndsWithItsTaskAndStopsTheServer() async throws {
        let server = try await self.start()
        let running = Task { await server.run() }
        #expect(try self.isServing(server.port))
        running.cancel()
        await running.value
        #expect(try !self.isServing(server.port))
    }

    @Test func aRunInACancelledTaskStopsAtOnce() async throws {
        let server = try await self.start()
        let running = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await server.run()
        }
        await running.value
        #expect(try !self.isServing(server.port))
    }

    @Test func aRunReturnsWhenTheServerIsStopped() async throws {
        let server = try await self.start()
        async let run: Void = server.run()
        async let again: Void = server.run()
        await server.stop()
        _ = await (run, again)
        #expect(try !self.isServing(server.port))
    }

    @Test func allCallersOfStopWaitForTheEnd() async throws {
        let server = try await self.start()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    await server.stop()
                    #expect((try? RawConnection(port: server.port)) == nil)
                }
            }
        }
        await server.stop()
    }

    @Test func foreignLoopsContinue() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 3)
        for _ in 0..<2 {
            let server = try await self.start(.shared(group))
            #expect(server.contexts.count == 3)
            for _ in 0..<3 { #expect(try self.isServing(server.port)) }
            await server.stop()
            #expect(try !self.isServing(server.port))
        }
        #expect(try await group.next().submit { true }.get())
        try await group.shutdownGracefully()
    }

    @Test func oneLoopIsAGroupToo() async throws {
        let server = try await self.start(.shared(MultiThreadedEventLoopGroup.singleton.next()))
        #expect(server.contexts.count == 1)
        #expect(try self.isServing(server.port))
        await server.stop()
    }

    /// The caller's own loops continue, and would keep the connections of the control API, which keep the server.
    @Test func aStopEndsConnectionsToTheControlAPI() async throws {
        let folder = try TemporaryFolder()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        weak var left: SessionServer?
        do {
            let configuration = SessionServerConfiguration(folder: try CassetteFolder(folder.path), version: "1", loops: .shared(group))
            let server = try await SessionServer.start(configuration)
            left = server
            let control = try await ControlServer.start(for: server, token: Secret(RunningSessions.token))
            let port = RunningSessions.port(control.address)
            let idle = try RawConnection(port: port)
            let answered = try RawConnection(port: port)
            try answered.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(String(decoding: try answered.read(through: "\r\n\r\n"), as: UTF8.self).hasPrefix("HTTP/1.1 4"))
            await control.stop()
            #expect(try idle.readToEnd().bytes.isEmpty)
            _ = await server.stop()
        }
        #expect(await self.isReleased { left })
        try await group.shutdownGracefully()
    }

    @Test func aServerOfSessionsAndItsControlAreStartedAndStoppedByTasks() async throws {
        let folder = try TemporaryFolder()
        let configuration = SessionServerConfiguration(folder: try CassetteFolder(folder.path), version: "1", loops: .own(2))
        let server = try await SessionServer.start(configuration)
        let control = try await ControlServer.start(for: server, token: Secret(RunningSessions.token))
        let running = Task { await server.run() }
        #expect((try? RawConnection(port: RunningSessions.port(control.address))) != nil)
        await control.stop()
        #expect((try? RawConnection(port: RunningSessions.port(control.address))) == nil)
        running.cancel()
        #expect(await running.value.isEmpty)
        #expect((try? RawConnection(port: RunningSessions.port(server.address))) == nil)
        #expect(await server.stop().isEmpty)
    }
}
