import NIOCore
import NIOEmbedded
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct UpstreamPoolTests {
    private let route = UpstreamRoute(Origin(scheme: .http, host: "h"))

    private let loop = EmbeddedEventLoop()

    private func upstream(_ id: Int, _ route: UpstreamRoute? = nil, in pool: UpstreamPool) throws -> (HTTP1UpstreamStream, EmbeddedChannel)
    {
        let channel = EmbeddedChannel(loop: self.loop)
        let handler = UpstreamConnection(route: route ?? self.route, id: id, loop: channel.embeddedEventLoop)
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        handler.opened(channel, timing: DialTiming(dns: nil, connect: 1))
        return (HTTP1UpstreamStream(handler, pool: pool), channel)
    }

    private func pool(_ change: (inout ProxyLimits) -> Void = { _ in }) -> UpstreamPool {
        var limits = ProxyLimits()
        change(&limits)
        return UpstreamPool(limits: limits, clock: EventClock(loop: self.loop))
    }

    @Test func theNewestIsTakenFirstAndOnlyByItsOrigin() throws {
        let pool = self.pool()
        let (first, firstChannel) = try self.upstream(1, in: pool)
        let (second, secondChannel) = try self.upstream(2, in: pool)
        pool.put(first, client: 1)
        pool.put(second, client: 1)
        #expect(pool.take(UpstreamRoute(Origin(scheme: .http, host: "other")), client: 2, isRepeatable: true) == nil)
        #expect(pool.take(UpstreamRoute(Origin(scheme: .http, host: "h", port: 81)), client: 2, isRepeatable: true) == nil)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) === second)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) === first)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) == nil)
        #expect(pool.count == 0)
        #expect(firstChannel.isActive && secondChannel.isActive)
    }

    /// The origin's 401 bound one connection to the client, and the login took another one, as it does if both HTTP versions are offered.
    @Test func theConnectionThatWasOpenedForCredentialsComesFirst() throws {
        let pool = self.pool()
        let both = UpstreamRoute(Origin(scheme: .https, host: "h"), protocols: ["h2", "http/1.1"])
        let (anonymous, _) = try self.upstream(1, both, in: pool)
        let (authenticated, _) = try self.upstream(2, both.ofHTTP1, in: pool)
        for stream in [authenticated, anonymous] {
            stream.bind(to: 7)
            pool.put(stream, client: 7)
        }
        #expect(pool.take(both, client: 7, isRepeatable: true) === authenticated)
        // A login on the connection whose 401 it answers.
        #expect(pool.take(both.ofHTTP1, client: 7, isRepeatable: true) === anonymous)
        #expect(pool.take(both, client: 7, isRepeatable: true) == nil)
    }

    @Test func aConnectionThatClosesWhileIdleIsRemoved() throws {
        let pool = self.pool()
        let (upstream, channel) = try self.upstream(1, in: pool)
        pool.put(upstream, client: 1)
        try channel.close().wait()
        #expect(pool.count == 0)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) == nil)
    }

    @Test func unrequestedBytesCloseIt() throws {
        let pool = self.pool()
        let (upstream, channel) = try self.upstream(1, in: pool)
        pool.put(upstream, client: 1)
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
            let (upstream, channel) = try self.upstream(id, route, in: pool)
            pool.put(upstream, client: 1)
            return channel
        }
        #expect(channels.map(\.isActive) == [true, true, false, true, false])
        #expect(pool.count == 3)
        pool.closeAll()
        #expect(channels.allSatisfy { !$0.isActive })
        #expect(pool.count == 0)
    }

    @Test func aSweepClosesIdleConnections() throws {
        let pool = self.pool { $0.upstreamIdle = 4 }
        let (upstream, channel) = try self.upstream(1, in: pool)
        pool.put(upstream, client: 1)
        pool.sweep(now: self.loop.now + .seconds(3))
        #expect(channel.isActive)
        pool.sweep(now: self.loop.now + .seconds(5))
        #expect(!channel.isActive)
        #expect(pool.count == 0)
    }

    @Test func aConnectionOfAForgottenOriginComesBackOnANewList() throws {
        let pool = self.pool { $0.upstreamIdle = 4 }
        let (upstream, _) = try self.upstream(1, in: pool)
        pool.put(upstream, client: 1)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) === upstream)
        pool.sweep(now: self.loop.now)
        pool.put(upstream, client: 1)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) === upstream)
    }

    @Test func aRequestThatCannotBeSentAgainTakesOnlyItsOwnClientsConnection() throws {
        let pool = self.pool()
        let (own, _) = try self.upstream(1, in: pool)
        let (strangers, _) = try self.upstream(2, in: pool)
        pool.put(own, client: 7)
        pool.put(strangers, client: 8)
        #expect(pool.take(self.route, client: 9, isRepeatable: false) == nil)
        #expect(pool.take(self.route, client: 7, isRepeatable: false) === own)
        #expect(pool.take(self.route, client: 7, isRepeatable: false) == nil)
        #expect(pool.take(self.route, client: 7, isRepeatable: true) === strangers)
        #expect(pool.count == 0)
    }

    @Test func boundConnectionServesItsClientAlone() throws {
        let pool = self.pool()
        let (bound, channel) = try self.upstream(1, in: pool)
        bound.bind(to: 1)
        pool.put(bound, client: 1)
        #expect(pool.take(self.route, client: 2, isRepeatable: true) == nil)
        #expect(pool.take(self.route, client: 2, isRepeatable: false) == nil)
        #expect(pool.take(self.route, client: 1, isRepeatable: true) === bound)
        pool.put(bound, client: 1)
        pool.clientClosed(2)
        #expect(channel.isActive)
        pool.clientClosed(1)
        #expect(!channel.isActive && pool.count == 0)
    }

    @Test func clientTakesNoOtherConnectionThanItsBoundOne() throws {
        let pool = self.pool()
        let (bound, _) = try self.upstream(1, in: pool)
        let (other, otherChannel) = try self.upstream(2, in: pool)
        bound.bind(to: 1)
        pool.put(bound, client: 1)
        pool.put(other, client: 2)
        #expect(pool.take(self.route, client: 1, isRepeatable: true) === bound)
        pool.put(bound, client: 1)
        pool.clientClosed(1)
        #expect(otherChannel.isActive && pool.take(self.route, client: 3, isRepeatable: true) === other)
    }

    @Test func boundConnectionWithoutItsClientIsNotKept() throws {
        let pool = self.pool()
        let (bound, channel) = try self.upstream(1, in: pool)
        bound.bind(to: 1)
        pool.clientClosed(1)
        pool.put(bound, client: 1)
        #expect(!channel.isActive && pool.count == 0)
    }
}
