import NIOCore
import NIOEmbedded
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct UpstreamPoolTests {
    private let route = UpstreamRoute(Origin(scheme: .http, host: "h"))

    private func upstream(_ id: Int, _ route: UpstreamRoute? = nil) throws -> (UpstreamHandler, EmbeddedChannel) {
        let channel = EmbeddedChannel()
        let handler = UpstreamHandler(route: route ?? self.route, id: id, flushes: FlushQueue(loop: channel.embeddedEventLoop))
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        handler.opened(channel, timing: DialTiming(dns: nil, connect: 1))
        return (handler, channel)
    }

    private func pool(_ change: (inout ProxyLimits) -> Void = { _ in }) -> UpstreamPool {
        var limits = ProxyLimits()
        change(&limits)
        return UpstreamPool(limits: limits)
    }

    @Test func theNewestIsTakenFirstAndOnlyByItsOrigin() throws {
        let pool = self.pool()
        let (first, firstChannel) = try self.upstream(1)
        let (second, secondChannel) = try self.upstream(2)
        pool.put(first, now: .now())
        pool.put(second, now: .now())
        #expect(pool.take(UpstreamRoute(Origin(scheme: .http, host: "other"))) == nil)
        #expect(pool.take(UpstreamRoute(Origin(scheme: .http, host: "h", port: 81))) == nil)
        #expect(pool.take(self.route) === second)
        #expect(pool.take(self.route) === first)
        #expect(pool.take(self.route) == nil)
        #expect(pool.count == 0)
        #expect(firstChannel.isActive && secondChannel.isActive)
    }

    @Test func oneThatClosesWhileNobodyUsesItIsForgotten() throws {
        let pool = self.pool()
        let (upstream, channel) = try self.upstream(1)
        pool.put(upstream, now: .now())
        try channel.close().wait()
        #expect(pool.count == 0)
        #expect(pool.take(self.route) == nil)
    }

    @Test func octetsThatNobodyAskedForCloseIt() throws {
        let pool = self.pool()
        let (upstream, channel) = try self.upstream(1)
        pool.put(upstream, now: .now())
        try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 408 Request Timeout\r\n\r\n"))
        #expect(!channel.isActive)
        #expect(pool.count == 0)
    }

    @Test func moreThanItMayKeepAreClosed() throws {
        let pool = self.pool {
            $0.idlePerOrigin = 2
            $0.idleInAll = 3
        }
        let others = [
            self.route, self.route, self.route, UpstreamRoute(Origin(scheme: .http, host: "i")),
            UpstreamRoute(Origin(scheme: .http, host: "j")),
        ]
        let channels = try others.enumerated().map { id, route in
            let (upstream, channel) = try self.upstream(id, route)
            pool.put(upstream, now: .now())
            return channel
        }
        #expect(channels.map(\.isActive) == [true, true, false, true, false])
        #expect(pool.count == 3)
        pool.closeAll()
        #expect(channels.allSatisfy { !$0.isActive })
        #expect(pool.count == 0)
    }

    @Test func aSweepClosesWhatNobodyHasUsedInTime() throws {
        let pool = self.pool { $0.upstreamIdle = 4 }
        let (upstream, channel) = try self.upstream(1)
        pool.put(upstream, now: .now())
        pool.sweep(now: .now() + .seconds(3))
        #expect(channel.isActive)
        pool.sweep(now: .now() + .seconds(5))
        #expect(!channel.isActive)
        #expect(pool.count == 0)
    }

    @Test func aConnectionOfAForgottenOriginComesBackOnANewShelf() throws {
        let pool = self.pool { $0.upstreamIdle = 4 }
        let (upstream, _) = try self.upstream(1)
        pool.put(upstream, now: .now())
        #expect(pool.take(self.route) === upstream)
        pool.sweep(now: .now())
        pool.put(upstream, now: .now())
        #expect(pool.take(self.route) === upstream)
    }
}
