import TapeProxy
import TapeTLS

/// A fresh certificate authority, as text.
struct TestAuthority {
    let certificatePEM: [UInt8]
    let keyPEM: [UInt8]

    init() throws {
        let authority = try CertificateAuthority.make(now: 1_790_000_000)
        self.certificatePEM = authority.certificatePEM()
        self.keyPEM = try authority.keyPEM()
    }

    var settings: TLSSettings { TLSSettings(certificatePEM: self.certificatePEM, keyPEM: self.keyPEM) }
}
