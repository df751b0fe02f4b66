import COpenSSL
import TapeTestSupport

@testable import TapeTLS

/// Opens the client's end of TLS connections, trusting only one authority.
///
/// Not Sendable: belongs to one thread.
final class TLSClient {
    private let folder: TemporaryFolder
    private let context: TLSClientContext
    /// Sessions of earlier connections.
    let sessions = TLSSessionCache()

    init(trusting authority: TestAuthority, minimum: TLSVersion = .tls12, maximum: TLSVersion = .tls13) throws {
        self.folder = try TemporaryFolder()
        try self.folder.write(authority.certificatePEM, to: "root.pem")
        self.context = try TLSClientContext(minimum: minimum, trustsSystem: false, roots: [self.folder.file("root.pem")])
        _ = wiretape_ctx_set_max_version(self.context.pointer, maximum.number)
    }

    /// A connection whose handshake has not begun.
    ///
    /// - Parameter host: the host for which the certificate has to be valid.
    func stream(
        over connection: RawConnection, host: String = "example.test", serverName: String? = "example.test",
        protocols: [String] = ["http/1.1"]
    ) throws -> TLSStream {
        TLSStream(try self.connection(host: host, serverName: serverName, protocols: protocols), replacing: connection)
    }

    func connection(
        host: String = "example.test", serverName: String? = "example.test", protocols: [String] = ["http/1.1"]
    ) throws -> TLSConnection {
        let peer = TLSPeer(host: host, serverName: serverName, protocols: protocols, sessionKey: serverName ?? host)
        return try TLSConnection(client: self.context, peer: peer, sessions: self.sessions)
    }
}
