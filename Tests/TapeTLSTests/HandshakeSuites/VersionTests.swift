import Testing

@testable import TapeTLS

struct VersionTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    private func pair(client: ClosedRange<TLSVersion>, server: ClosedRange<TLSVersion>) throws -> TLSPair {
        let pair = try self.authority.pair(
            self.authority.clientContext(minimum: client.lowerBound, maximum: client.upperBound),
            TestAuthority.serverContext(minimum: server.lowerBound, maximum: server.upperBound))
        pair.run()
        return pair
    }

    @Test(arguments: TLSVersion.allCases)
    func eachVersionCanBeSpokenWhereBothAllowIt(version: TLSVersion) throws {
        for pair in [
            try self.pair(client: version...version, server: .tls10 ... .tls13),
            try self.pair(client: .tls10 ... .tls13, server: version...version),
        ] {
            #expect(pair.isEstablished)
            #expect(pair.client.version == (version == .tls10 ? "TLSv1" : "TLSv\(version.rawValue)"))
            try pair.client.send("up".utf8)
            try pair.server.send("down".utf8)
            pair.run()
            #expect(pair.server.text == "up")
            #expect(pair.client.text == "down")
        }
    }

    @Test(arguments: [
        (TLSVersion.tls10 ... .tls11, TLSVersion.tls12 ... .tls13), (.tls10 ... .tls12, .tls13 ... .tls13),
        (.tls12 ... .tls13, .tls10 ... .tls11),
        (.tls13 ... .tls13, .tls10 ... .tls12),
    ])
    func withoutASharedVersionBothEndsSaySo(client: ClosedRange<TLSVersion>, server: ClosedRange<TLSVersion>) throws {
        let pair = try self.pair(client: client, server: server)
        #expect(pair.client.failure?.cause == .noSharedVersion)
        #expect(pair.server.failure?.cause == .noSharedVersion)
    }

    @Test(arguments: [TLSVersion.tls10, .tls11])
    func deprecatedVersionsAreOffUnlessAskedFor(version: TLSVersion) throws {
        let old = try RawPeer(maximum: version, minimum: .tls10)
        let server = TLSEnd(
            try TLSConnection(server: TLSServerContext()), answer: TLSEnd.Answer(leaf: try self.authority.leaf()))
        old.run(with: server)
        #expect(server.failure?.cause == .noSharedVersion)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
        "\0\0\0\0\0\0\0\0\0\0\0\0",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "220 smtp.example.test ESMTP ready\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
    ])
    func otherProtocolsFailAsNotTLS(text: String) throws {
        let pair = try self.authority.pair()
        pair.server.receive(text.utf8)
        #expect(pair.server.failure?.cause == .notTLS)
        pair.client.receive()
        pair.client.receive(text.utf8)
        #expect(pair.client.failure?.cause == .notTLS)
    }
}
