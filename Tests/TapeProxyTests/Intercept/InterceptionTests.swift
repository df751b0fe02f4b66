import TapeBytes
import CassetteStore
import Dispatch
import NIOCore
import NIOEmbedded
import TapeExchange
@testable import TapeProxy
import TapeTLS
import TapeTrust
import Testing

@Suite struct InterceptionTests {
    private func interception(passthrough: [String] = [], refused: [String] = []) throws -> Interception {
        var settings = try TestAuthority().settings
        settings.passthrough = try passthrough.map { try HostPattern($0) }
        settings.refused = try refused.map { try HostPattern($0) }
        return try Interception(settings)
    }

    @Test func everyTunnelIsLookedIntoUnlessAPatternSaysOtherwise() throws {
        let interception = try self.interception(passthrough: ["*.bank.test", "pinned.test:8443"], refused: ["ads.test", "x.bank.test"])
        #expect(interception.choice(host: "example.test", port: 443) == .intercept)
        #expect(interception.choice(host: "www.bank.test", port: 443) == .passThrough)
        #expect(interception.choice(host: "bank.test", port: 443) == .intercept)
        #expect(interception.choice(host: "pinned.test", port: 8443) == .passThrough)
        #expect(interception.choice(host: "pinned.test", port: 443) == .intercept)
        #expect(interception.choice(host: "ADS.test", port: 1) == .refuse)
        #expect(interception.choice(host: "x.bank.test", port: 443) == .refuse)
    }

    @Test func aLeafIsThereOnceItWasMinted() throws {
        let interception = try self.interception()
        #expect(interception.leaf(host: "h.test", serverName: "s.test") == nil)
        let leaf = try interception.mint(host: "h.test", serverName: "s.test", upstreamNames: ["u.test"])
        #expect(leaf.names.dnsNames == ["h.test", "s.test", "u.test"])
        #expect(interception.leaf(host: "h.test", serverName: "s.test") === leaf)
        #expect(interception.leaf(host: "h.test", serverName: nil) == nil)
        #expect(throws: CertificateError.self) { _ = try interception.mint(host: "a..b", serverName: nil, upstreamNames: []) }
    }

    @Test func leavesAreValidAtTheTimeThatIsAskedFor() throws {
        let authority = try CertificateAuthority.make(now: 1_600_000_000)
        var settings = try TLSSettings(authority: .pem(certificate: authority.certificatePEM(), key: authority.keyPEM()))
        settings.leafTime = 1_600_500_000
        let interception = try Interception(settings)
        let leaf = try interception.mint(host: "h.test", serverName: nil, upstreamNames: [])
        #expect(leaf.notBefore < 1_600_500_000 && 1_600_500_000 < leaf.notAfter && leaf.notAfter < 1_640_000_000)
        #expect(interception.leaf(host: "h.test", serverName: nil) === leaf)
    }

    @Test func secondMintGetsTheSameLeaf() throws {
        let interception = try self.interception()
        let leaf = try interception.mint(host: "h.test", serverName: "h.test", upstreamNames: ["u.test"])
        #expect(try interception.mint(host: "h.test", serverName: "h.test", upstreamNames: []) === leaf)
    }

    @Test func aHostHasOneLeafHoweverManyThreadsAskForItAtOnce() throws {
        let interception = try self.interception()
        let leaves = Guarded<[Leaf]>([])
        DispatchQueue.concurrentPerform(iterations: 64) { turn in
            guard let leaf = try? interception.mint(host: "h\(turn % 4).test", serverName: nil, upstreamNames: []) else { return }
            leaves.withLock { $0.append(leaf) }
        }
        let all = leaves.withLock { $0 }
        #expect(all.count == 64)
        #expect(Set(all.map { ObjectIdentifier($0) }).count == 4)
    }

    @Test func anInvalidAuthorityIsRefusedAtTheStart() throws {
        let one = try TestAuthority()
        let other = try TestAuthority()
        #expect(throws: CertificateError.self) {
            _ = try Interception(TLSSettings(authority: .pem(certificate: one.certificatePEM, key: other.keyPEM)))
        }
        let error = #expect(throws: ProxyError.self) {
            _ = try RunningProxy(.passthrough) { $0.tls = TLSSettings(authority: .pem(certificate: one.certificatePEM, key: other.keyPEM)) }
        }
        #expect(error?.code == .invalidAuthority)
    }
}

@Suite struct GreetingTests {
    private final class Log { var events: [String] = [] }

    private let channel = EmbeddedChannel()
    private let log = Log()

    private func greeting() throws -> Greeting {
        let upstream = UpstreamConnection(
            route: UpstreamRoute(Origin(scheme: .http, host: "h")), id: 1, loop: self.channel.embeddedEventLoop)
        try self.channel.pipeline.syncOperations.addHandler(upstream)
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 25)).wait()
        let log = self.log
        return Greeting(upstream) {
            log.events.append("came \(String(buffer: $0.bytes))")
        } ended: {
            log.events.append("ended")
        }
    }

    @Test func theFirstBytesOfATurnAreReportedOnce() throws {
        let greeting = try self.greeting()
        _ = greeting
        self.channel.pipeline.fireChannelRead(ByteBuffer(string: "220 "))
        self.channel.pipeline.fireChannelRead(ByteBuffer(string: "mail"))
        #expect(self.log.events.isEmpty)
        self.channel.pipeline.fireChannelReadComplete()
        try self.channel.writeInbound(ByteBuffer(string: " more"))
        #expect(self.log.events == ["came 220 mail"])
    }

    @Test func aTurnWithoutBytesTellsNothing() throws {
        let greeting = try self.greeting()
        self.channel.pipeline.fireChannelReadComplete()
        greeting.upstreamWritabilityChanged(false)
        #expect(self.log.events.isEmpty)
    }

    @Test func anOriginThatLeavesIsReportedOnce() throws {
        let greeting = try self.greeting()
        self.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        greeting.upstreamEnded()
        self.channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        #expect(self.log.events == ["ended"])
    }

    @Test func forgottenGreetingReportsNothing() throws {
        let greeting = try self.greeting()
        greeting.forget()
        try self.channel.writeInbound(ByteBuffer(string: "late"))
        greeting.upstreamEnded()
        #expect(self.log.events.isEmpty)
    }
}

@Suite struct TunnelScopeTests {
    private func scope(_ host: String, serverName: String? = nil) -> TunnelScope {
        TunnelScope(route: UpstreamRoute(Origin(scheme: .https, host: host, port: 8443), serverName: serverName))
    }

    @Test func requestsGoWhereTheTunnelGoes() {
        #expect(self.scope("127.0.0.1", serverName: "example.test").origin == Origin(scheme: .https, host: "127.0.0.1", port: 8443))
        #expect(self.scope("h").failure == nil)
    }

    /// A program that connects by address may name any host in its requests, unless its TLS names one.
    @Test(
        arguments: [
            (TunnelOpening.transparent, "203.0.113.10", nil, true), (.transparent, "203.0.113.10", "a.test", false),
            (.transparent, "203.0.113.10", "c.test", true), (.socks, "203.0.113.10", nil, true), (.connect, "203.0.113.10", nil, false),
            (.transparent, "a.test", nil, false),
        ] as [(TunnelOpening, String, String?, Bool)])
    func aTunnelToAnAddressServesTheHostThatItsTLSNames(opening: TunnelOpening, host: String, serverName: String?, serves: Bool) {
        let route = UpstreamRoute(Origin(scheme: .https, host: host, port: 8443), serverName: serverName)
        #expect(TunnelScope(route: route, opening: opening).serves(host: "c.test", port: nil) == serves)
    }

    @Test func theMagicHostIsKnownByTheTunnelsHostAlone() {
        #expect(self.scope("wiretape.test").isMagic)
        #expect(self.scope("Wiretape.TEST").isMagic)
        #expect(!self.scope("h", serverName: "wiretape.test").isMagic)
        #expect(!self.scope("a.wiretape.test").isMagic)
    }
}
