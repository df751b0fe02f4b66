import COpenSSL
import TapeTestSupport

@testable import TapeTLS

/// The server's end of TLS for the scripts of a `RawOrigin`: a certificate, the supported versions, and the protocol that it chooses.
// SAFETY: the context is set up in init and locked by OpenSSL after that; everything else is Sendable.
final class TLSOrigin: @unchecked Sendable {
    private let context: TLSServerContext
    private let leaf: Leaf
    private let protocols: [String]

    /// - Parameters:
    ///   - protocols: the supported protocols, the preferred one first.
    ///   - clients: the authority of the client certificates that it requests; nil requests none.
    init(
        _ leaf: Leaf, minimum: TLSVersion = .tls12, maximum: TLSVersion = .tls13, protocols: [String] = ["http/1.1"],
        clients: TestAuthority? = nil
    ) throws {
        self.context = try TLSServerContext(minimum: minimum)
        self.leaf = leaf
        self.protocols = protocols
        _ = wiretape_ctx_set_max_version(self.context.pointer, maximum.number)
        guard let clients else { return }
        let folder = try TemporaryFolder()
        try folder.write(clients.certificatePEM, to: "clients.pem")
        guard SSL_CTX_load_verify_file(self.context.pointer, folder.file("clients.pem")) == 1 else { throw TLSFailure.drained() }
        SSL_CTX_set_verify(self.context.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    /// A connection whose handshake has not begun.
    func stream(over connection: RawConnection) throws -> TLSStream {
        TLSStream(try TLSConnection(server: self.context), replacing: connection) { [leaf, protocols] hello in
            (leaf, protocols.first { hello.protocols.contains($0) })
        }
    }

    /// Performs the handshake, plays the script, and ends with close_notify.
    func plays(_ script: @escaping @Sendable (TLSStream) throws -> Void) -> RawOrigin.Script {
        { connection in
            let stream = try self.stream(over: connection)
            try stream.handshake()
            try script(stream)
            stream.closeOutput()
            stream.close()
        }
    }

    /// Performs the handshake with a client that aborts it.
    func isRefused(_ cause: TLSFailure.Cause? = nil) -> RawOrigin.Script {
        { connection in
            let stream = try self.stream(over: connection)
            do {
                try stream.handshake()
                // In TLS 1.3 the client's message arrives after this side has finished.
                _ = try stream.readToEnd()
            } catch let failure as TLSFailure {
                guard cause == nil || failure.cause == cause else { throw failure }
                return
            }
            throw RawError("the handshake was not refused")
        }
    }
}
