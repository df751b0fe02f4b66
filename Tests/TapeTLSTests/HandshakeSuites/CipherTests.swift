internal import COpenSSL
import Testing

@testable import TapeTLS

/// The offered ciphers: Mozilla's "intermediate" (v5.7), in the server's order.
struct CipherTests {
    private static let suites = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]
    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", "DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES256-GCM-SHA384",
        "DHE-RSA-CHACHA20-POLY1305",
    ]

    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    private func server(minimum: TLSVersion = .tls12) throws -> TLSEnd {
        TLSEnd(
            try TLSConnection(server: TestAuthority.serverContext(minimum: minimum)),
            answer: TLSEnd.Answer(leaf: try self.authority.leaf()))
    }

    /// The cipher on which our server and a client agree.
    private func agreed(_ client: RawPeer, minimum: TLSVersion = .tls12) throws -> String {
        let server = try self.server(minimum: minimum)
        client.run(with: server)
        #expect(server.isEstablished, "\(String(describing: server.failure))")
        return client.cipher
    }

    private func refusal(_ client: RawPeer) throws -> TLSFailure.Cause? {
        let server = try self.server()
        client.run(with: server)
        #expect(!server.isEstablished)
        return server.failure?.cause
    }

    private func names(minimum: TLSVersion) throws -> [String] {
        let context = try ContextSettings.make(TLS_method(), minimum: minimum, keyLog: nil)
        defer { SSL_CTX_free(context) }
        return Self.names(context)
    }

    private static func names(_ context: OpaquePointer) -> [String] {
        let list = SSL_CTX_get_ciphers(context)
        return (0..<wiretape_ciphers_count(list)).compactMap { index in
            SSL_CIPHER_get_name(wiretape_ciphers_at(list, index)).map { String(cString: $0) }
        }
    }

    // MARK: The ciphers

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func theListIsMozillasIntermediate(minimum: TLSVersion) throws {
        #expect(try self.names(minimum: minimum) == Self.suites + Self.ciphers)
    }

    /// Origins and clients from the time of TLS 1.0 get OpenSSL's defaults, after those of the others.
    @Test(arguments: [TLSVersion.tls10, .tls11])
    func belowTLS12TheOldOnesComeLast(minimum: TLSVersion) throws {
        let context = try #require(SSL_CTX_new(TLS_method()))
        defer { SSL_CTX_free(context) }
        SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0")
        let names = try self.names(minimum: minimum)
        #expect(Set(names) == Set(Self.names(context)))
        #expect(Array(names.prefix(12)) == Self.suites + Self.ciphers)
        #expect(names.contains("ECDHE-ECDSA-AES128-SHA"))
    }

    @Test(arguments: ["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384"])
    func aClientWithoutAnAllowedCipherIsRefused(ciphers: String) throws {
        #expect(try self.refusal(RawPeer(maximum: .tls12, ciphers: ciphers)) == .noSharedCipher)
        let old = try RawPeer(maximum: .tls12, minimum: .tls10, ciphers: ciphers + ":@SECLEVEL=0")
        #expect(try ciphers.split(separator: ":").map(String.init).contains(self.agreed(old, minimum: .tls10)))
    }

    @Test func anOriginWithoutAnAllowedCipherIsRefused() throws {
        let origin = try TestAuthority.serverContext(minimum: .tls10, maximum: .tls12)
        origin.speakOnly("ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")
        let pair = try self.authority.pair(self.authority.clientContext(), origin)
        pair.run()
        #expect(pair.client.failure?.cause == .noSharedCipher)
        let old = try self.authority.pair(self.authority.clientContext(minimum: .tls10), origin)
        old.run()
        #expect(old.isEstablished)
        #expect(old.client.cipher == "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA")
    }

    // MARK: Groups

    @Test(arguments: ["X448", "P-521", "X448:P-521"])
    func aClientWithoutAnAllowedGroupIsRefused(groups: String) throws {
        #expect(try self.refusal(RawPeer(minimum: .tls13, groups: groups)) == .noSharedCipher)
        _ = try self.agreed(RawPeer(minimum: .tls13, groups: groups), minimum: .tls10)
    }

    @Test(arguments: ["X448", "P-521"])
    func anOriginWithoutAnAllowedGroupIsRefused(groups: String) throws {
        let origin = try TestAuthority.serverContext()
        origin.useOnly(groups: groups)
        let pair = try self.authority.pair(self.authority.clientContext(), origin)
        pair.run()
        #expect(pair.client.failure?.cause == .noSharedCipher)
    }

    @Test(
        arguments: [
            ("X25519", NID_X25519), ("P-256", NID_X9_62_prime256v1), ("P-384", NID_secp384r1), ("X448:P-521:P-384", NID_secp384r1),
        ] as [(String, Int32)])
    func eachAllowedGroupIsSpoken(groups: String, group: Int32) throws {
        let client = try RawPeer(minimum: .tls13, groups: groups)
        _ = try self.agreed(client)
        #expect(client.group == group)
    }

    /// In TLS 1.3 the client's first key share is used, since another one costs a round trip (RFC 8446, 4.1.4).
    @Test(arguments: [(TLSVersion.tls12, NID_X25519), (.tls13, NID_secp384r1)] as [(TLSVersion, Int32)])
    func theOrderOfGroupsIsTheServersWhereThatCostsNothing(version: TLSVersion, group: Int32) throws {
        let client = try RawPeer(maximum: version, minimum: version, groups: "P-384:P-256:X25519")
        _ = try self.agreed(client)
        #expect(client.group == group)
    }

    // MARK: The order

    @Test(arguments: [TLSVersion.tls10, .tls12])
    func theOrderIsTheServers(minimum: TLSVersion) throws {
        let first = try RawPeer(
            maximum: .tls12, ciphers: "ECDHE-ECDSA-AES256-SHA:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256")
        #expect(try self.agreed(first, minimum: minimum) == "ECDHE-ECDSA-AES128-GCM-SHA256")
        let second = try RawPeer(suites: "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256")
        #expect(try self.agreed(second, minimum: minimum) == "TLS_AES_128_GCM_SHA256")
    }

    /// A client that lists it first has no AES instructions.
    @Test func chaChaIsUsedWithClientsThatPreferIt() throws {
        let first = try RawPeer(maximum: .tls12, ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256")
        #expect(try self.agreed(first) == "ECDHE-ECDSA-CHACHA20-POLY1305")
        let second = try RawPeer(suites: "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256")
        #expect(try self.agreed(second) == "TLS_CHACHA20_POLY1305_SHA256")
    }
}
