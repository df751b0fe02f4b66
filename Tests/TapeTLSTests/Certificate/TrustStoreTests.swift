import COpenSSL
import Testing
@testable import TapeTLS

@Suite struct TrustStoreTests {
    private let now: Int64 = 1_790_000_000

    /// The certificates in a PKCS#12 file as OpenSSL reads it; nil where the password is wrong or a key is in it.
    private func certificates(_ file: [UInt8], password: String) throws -> Int? {
        let bio = try MemoryBIO(file)
        guard let store = d2i_PKCS12_bio(bio.pointer, nil) else { return nil }
        defer {
            PKCS12_free(store)
            ErrorQueue.clear()
        }
        var key: OpaquePointer?
        var own: OpaquePointer?
        var others: OpaquePointer?
        guard PKCS12_parse(store, password, &key, &own, &others) == 1 else { return nil }
        defer {
            EVP_PKEY_free(key)
            X509_free(own)
            while let certificate = OPENSSL_sk_pop(others) { X509_free(OpaquePointer(certificate)) }
            OPENSSL_sk_free(others)
        }
        return key == nil ? Int(OPENSSL_sk_num(others)) : nil
    }

    @Test func holdsEachCertificateOnceAndNoKey() throws {
        let first = try CertificateAuthority.make(now: self.now)
        let second = try CertificateAuthority.make(now: self.now).certificatePEM()
        let bundle = try first.certificatePEM() + first.keyPEM() + second + first.certificatePEM()
        let file = try TrustStore.pkcs12(certificatesPEM: bundle, password: "changeit")
        #expect(try self.certificates(file, password: "changeit") == 2)
        #expect(try self.certificates(file, password: "wrong") == nil)
    }

    /// 2.16.840.1.113894.746875.1.1 with 2.5.29.37.0: without it Java shows an empty store.
    @Test func marksTheCertificateAsTrusted() throws {
        let file = try CertificateAuthority.make(now: self.now).certificateP12(password: "")
        let mark: [UInt8] = [
            0x60, 0x86, 0x48, 0x01, 0x86, 0xF9, 0x66, 0xAD, 0xCA, 0x7B, 0x01, 0x01, 0x31, 0x06, 0x06, 0x04, 0x55, 0x1D, 0x25, 0x00,
        ]
        #expect(file.indices.contains { file[$0...].starts(with: mark) })
        #expect(try self.certificates(file, password: "") == 1)
    }

    @Test func aTextWithoutCertificatesIsRefused() {
        #expect(certificateError { _ = try TrustStore.pkcs12(certificatesPEM: [0x0A], password: "x") }?.code == .damaged)
    }
}
