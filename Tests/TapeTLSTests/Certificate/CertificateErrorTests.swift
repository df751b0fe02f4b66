import COpenSSL
import Testing
@testable import TapeTLS

@Suite struct CertificateErrorTests {
    @Test func saysItsMessage() {
        let error = CertificateError(.expired, "the authority \"CN=A\" has expired; make a new one")
        #expect("\(error)" == "the authority \"CN=A\" has expired; make a new one")
        #expect("\(error.code)" == "expired")
        #expect(error.code != .damaged)
    }

    @Test func aFailureOfTheLibraryCarriesItsReasons() throws {
        ErrorQueue.clear()
        let bio = try MemoryBIO()
        _ = PEM_read_bio_X509(bio.pointer, nil, nil, nil)
        let error = CertificateError.library("sign a certificate")
        #expect(error.code == .library)
        #expect(error.message.hasPrefix("OpenSSL cannot sign a certificate: no start line; "))
        #expect(CertificateError.library("sign").message.hasPrefix("OpenSSL cannot sign: it gives no reason; "))
    }
}
