import Testing

@testable import TapeTLS

struct ResumptionTests {
    private let authority: TestAuthority
    private let sessions = TLSSessionCache()

    init() throws {
        self.authority = try TestAuthority()
    }

    private func connect(
        _ client: borrowing TLSClientContext, _ server: borrowing TLSServerContext, name: String = "example.test", key: String = "a"
    ) throws -> TLSPair {
        let peer = TLSPeer(host: name, serverName: name, sessionKey: key)
        let pair = try self.authority.pair(client, server, peer: peer, leaf: self.authority.leaf(name), sessions: self.sessions)
        pair.run()
        #expect(pair.isEstablished)
        // TLS 1.3 resumes with a ticket that arrives after the handshake.
        try pair.server.send("hello".utf8)
        pair.run()
        #expect(pair.client.text == "hello")
        #expect(pair.client.isResumed == pair.server.isResumed)
        pair.client.closeOutput()
        pair.server.closeOutput()
        pair.run()
        return pair
    }

    @Test(arguments: [TLSVersion.tls10, .tls12, .tls13])
    func theNextConnectionWithTheSameKeyResumes(version: TLSVersion) throws {
        let client = try self.authority.clientContext(minimum: version, maximum: version)
        let server = try TestAuthority.serverContext(minimum: version)
        #expect(try !self.connect(client, server).client.isResumed)
        for _ in 0..<3 { #expect(try self.connect(client, server).client.isResumed) }
        #expect(self.sessions.count == 1)
    }

    @Test func theChainIsKnownAfterResumingToo() throws {
        let client = try self.authority.clientContext()
        let server = try TestAuthority.serverContext()
        let first = try self.connect(client, server).client.peerCertificates
        #expect(first.count == 1)
        #expect(try self.connect(client, server).client.peerCertificates == first)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func anotherKeyDoesNotResume(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        _ = try self.connect(client, server, key: "a")
        #expect(try !self.connect(client, server, key: "b").client.isResumed)
        #expect(self.sessions.count == 2)
    }

    /// Both sides must check it: the tickets of one name would otherwise give access to another (RFC 6066, 3).
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aServerDoesNotResumeForAnotherName(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        _ = try self.connect(client, server, name: "example.test")
        #expect(try !self.connect(client, server, name: "other.test").client.isResumed)
        #expect(try self.connect(client, server, name: "other.test").client.isResumed)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aTicketOfAnotherServerIsNotTaken(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        _ = try self.connect(client, TestAuthority.serverContext())
        #expect(try !self.connect(client, TestAuthority.serverContext()).client.isResumed)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aSessionThatWasRemovedIsNotResumed(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        _ = try self.connect(client, server)
        self.sessions.remove("a")
        #expect(try !self.connect(client, server).client.isResumed)
    }

    @Test func withoutACacheNothingIsKept() throws {
        let client = try self.authority.clientContext()
        let server = try TestAuthority.serverContext()
        for _ in 0..<2 {
            let pair = try self.authority.pair(client, server)
            pair.run()
            #expect(pair.isEstablished)
            #expect(!pair.client.isResumed)
        }
    }

    @Test func theHelloIsReadBeforeResumingToo() throws {
        let client = try self.authority.clientContext()
        let server = try TestAuthority.serverContext()
        _ = try self.connect(client, server)
        let pair = try self.connect(client, server)
        #expect(pair.server.hello?.serverName == "example.test")
    }

    @Test func aConnectionThatFailsLeavesNoSession() throws {
        let client = try self.authority.clientContext()
        let server = try TestAuthority.serverContext()
        let peer = TLSPeer(host: "other.test", serverName: "other.test")
        let pair = try self.authority.pair(client, server, peer: peer, sessions: self.sessions)
        pair.run()
        #expect(pair.client.failure?.cause == .nameMismatch)
        #expect(self.sessions.count == 0)
    }

    @Test func aLowerMinimumIsNoWayAroundAHigherOne() throws {
        let server = try TestAuthority.serverContext(minimum: .tls10)
        _ = try self.connect(self.authority.clientContext(minimum: .tls10, maximum: .tls11), server)
        let pair = try self.connect(self.authority.clientContext(minimum: .tls12), server)
        #expect(!pair.client.isResumed)
        #expect(pair.client.version == "TLSv1.3")
    }
}
