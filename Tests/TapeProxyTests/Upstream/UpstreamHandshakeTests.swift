import NIOCore
import NIOEmbedded
import TapeExchange
import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct UpstreamHandshakeTests {
    /// An upstream connection on the client's channel of a pair, and the handshake that waits for it.
    private struct Fixture {
        let pair: EmbeddedTLS
        let upstream: UpstreamConnection
        let handshake: UpstreamHandshake
        let channel: EmbeddedChannel

        init() throws {
            let pair = try EmbeddedTLS()
            self.channel = pair.client.channel
            let route = UpstreamRoute(Origin(scheme: .https, host: "example.test"), serverName: "example.test")
            let upstream = UpstreamConnection(route: route, id: 1, loop: self.channel.embeddedEventLoop)
            try self.channel.pipeline.syncOperations.addHandler(upstream, position: .after(pair.client.handler))
            self.handshake = UpstreamHandshake(upstream, pair.client.handler)
            upstream.opened(self.channel, timing: DialTiming(dns: nil, connect: 1))
            self.pair = pair
            self.upstream = upstream
        }
    }

    /// The reported outcomes.
    private final class Told {
        var list: [TLSFailure.Cause?] = []

        func add(_ result: Result<Void, TLSFailure>) {
            switch result {
            case .success: self.list.append(nil)
            case .failure(let failure): self.list.append(failure.cause)
            }
        }
    }

    @Test func negotiatedDetailsAreFilledIn() throws {
        let fixture = try Fixture()
        let told = Told()
        fixture.handshake.wait(5, on: fixture.channel.embeddedEventLoop, then: told.add)
        #expect(told.list.isEmpty)
        try fixture.pair.run()
        #expect(told.list == [nil])
        #expect(fixture.upstream.takePeerNames() == ["example.test"])
        let (info, timing) = fixture.upstream.use()
        #expect(info.tls?.sni == "example.test")
        #expect(timing?.tls != nil)
        // The timer is cancelled.
        fixture.channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(told.list == [nil])
    }

    @Test func anOutcomeBeforeTheWaitIsNotLost() throws {
        let fixture = try Fixture()
        let told = Told()
        fixture.pair.client.endInput()
        fixture.handshake.wait(5, on: fixture.channel.embeddedEventLoop, then: told.add)
        #expect(told.list == [.closed])
        #expect(!fixture.upstream.isOpen)
    }

    @Test func timeRunsOutOnce() throws {
        let fixture = try Fixture()
        let told = Told()
        fixture.handshake.wait(5, on: fixture.channel.embeddedEventLoop, then: told.add)
        fixture.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(told.list == [.timeout])
        #expect(!fixture.upstream.isOpen)
        fixture.handshake.tlsFailed(TLSFailure(cause: .closed, message: "late"))
        #expect(told.list == [.timeout])
    }

    @Test func itHoldsItselfUntilItIsOver() throws {
        let pair = try EmbeddedTLS()
        let route = UpstreamRoute(Origin(scheme: .https, host: "example.test"))
        let upstream = UpstreamConnection(route: route, id: 1, loop: pair.client.channel.embeddedEventLoop)
        weak var handshake: UpstreamHandshake?
        do {
            let made = UpstreamHandshake(upstream, pair.client.handler)
            handshake = made
        }
        #expect(handshake != nil)
        handshake?.forget()
        #expect(handshake == nil)
    }
}
