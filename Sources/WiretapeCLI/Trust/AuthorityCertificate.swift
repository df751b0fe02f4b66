internal import TapeTLS
internal import TapeTrust

/// The certificate of the authority, without its key: what others have to trust.
struct AuthorityCertificate: Hashable {
    var file: String
    /// The certificate alone, whatever else its file holds.
    var pem: [UInt8]
    var der: [UInt8]
    /// All certificates of its file: where it is an intermediate one, programs have to trust the root that it leads to.
    var chain: [UInt8]
    var summary: CertificateSummary
    /// For people.
    var key: String

    init(file: String) throws(TrustError) {
        let text = try WholeFile.read(file)
        do throws(CertificateError) {
            let certificate = try Certificate(pem: text)
            self.file = file
            self.pem = certificate.pem()
            self.der = certificate.der()
            var chain = PEMCertificates()
            chain.add(text)
            self.chain = chain.text
            self.summary = certificate.summary
            self.key = certificate.keyDescription
        } catch {
            throw TrustError("\"\(file)\": \(error.message)")
        }
    }
}
