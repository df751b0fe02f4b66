internal import COpenSSL
import Foundation

@testable import TapeTLS
import TapeTestSupport

/// An authority for one test, the file that makes clients trust it, and both kinds of connection.
final class TestAuthority {
    static let now = Int64(Date().timeIntervalSince1970)

    let folder: TemporaryFolder
    let path: String
    private let store: LeafStore

    init() throws {
        let authority = try CertificateAuthority.make(now: Self.now)
        self.folder = try TemporaryFolder()
        self.path = try self.folder.write(authority.certificatePEM(), to: "ca.pem")
        self.store = try LeafStore(authority: authority)
    }

    func leaf(_ host: String = "example.test") throws -> Leaf {
        try self.store.mint(host: host, serverName: nil, now: Self.now)
    }

    func clientContext(
        minimum: TLSVersion = .tls12, maximum: TLSVersion? = nil, keyLog: KeyLog? = nil
    ) throws -> TLSClientContext {
        let context = try TLSClientContext(minimum: minimum, trustsSystem: false, roots: [self.path], keyLog: keyLog)
        if let maximum { _ = wiretape_ctx_set_max_version(context.pointer, maximum.number) }
        return context
    }

    static func serverContext(
        minimum: TLSVersion = .tls12, maximum: TLSVersion? = nil, keyLog: KeyLog? = nil
    ) throws -> TLSServerContext {
        let context = try TLSServerContext(minimum: minimum, keyLog: keyLog)
        if let maximum { _ = wiretape_ctx_set_max_version(context.pointer, maximum.number) }
        return context
    }

    /// A pair whose client trusts the authority, and whose server answers immediately.
    func pair(
        maximum: TLSVersion? = nil, peer: TLSPeer = .example, leaf: Leaf? = nil, sessions: TLSSessionCache? = nil,
        protocolName: String? = nil,
        refusesProtocols: Bool = false
    ) throws -> TLSPair {
        let client = try self.clientContext(maximum: maximum)
        let server = try Self.serverContext()
        return try self.pair(
            client, server, peer: peer, leaf: leaf, sessions: sessions, protocolName: protocolName, refusesProtocols: refusesProtocols)
    }

    func pair(
        _ client: borrowing TLSClientContext, _ server: borrowing TLSServerContext, peer: TLSPeer = .example, leaf: Leaf? = nil,
        sessions: TLSSessionCache? = nil, protocolName: String? = nil, refusesProtocols: Bool = false
    ) throws -> TLSPair {
        let answer = TLSEnd.Answer(
            leaf: try leaf ?? self.leaf(), protocolName: protocolName, refusesProtocols: refusesProtocols)
        return TLSPair(
            client: TLSEnd(try TLSConnection(client: client, peer: peer, sessions: sessions)),
            server: TLSEnd(try TLSConnection(server: server), answer: answer))
    }
}
