internal import COpenSSL

@testable import TapeTLS
import TapeTestSupport

extension TLSServerContext {
    /// Makes a server request client certificates (mutual TLS), as origins do and the proxy never does.
    func wantCertificates(from root: TestCertificate, in folder: TemporaryFolder, isRequired: Bool = true) throws {
        let path = try folder.write(root.certificate.pem(), to: "clients.pem")
        guard SSL_CTX_load_verify_file(self.pointer, path) == 1 else { throw TLSFailure.drained() }
        SSL_CTX_set_verify(self.pointer, SSL_VERIFY_PEER | (isRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nil)
    }
}
