import COpenSSL
@testable import TapeTLS
import Testing

@Suite struct CertificateChainTests {
    private let now: Int64 = 1_790_000_000

    private func text(_ pem: [UInt8]) -> String { String(decoding: pem, as: UTF8.self) }

    private func pem() throws -> [UInt8] { try CertificateAuthority.make(now: self.now).certificatePEM() }

    @Test func readsCertificatesInTheirOrderAndPassesOverTheRest() throws {
        let first = try self.pem()
        let second = try self.pem()
        let key = try PrivateKey.makeP256().pem()
        let chain = try CertificateChain(pem: Array("# roots\r\n".utf8) + first + key + Array("text\n".utf8) + second + Array("end".utf8))
        #expect(chain.count == 2)
        #expect(try chain.der() == [Certificate(pem: first).der(), Certificate(pem: second).der()])
        #expect(chain.summaries.map(\.isAuthority) == [true, true])
        #expect(try CertificateChain(pem: first + second, limit: 1).count == 1)
    }

    @Test func linesMayEndAsOnWindows() throws {
        let pem = self.text(try self.pem()).split(separator: "\n").joined(separator: "\r\n")
        #expect(try CertificateChain(pem: Array(pem.utf8)).count == 1)
    }

    @Test func aDamagedOneIsNamedByItsPlace() throws {
        var second = try self.pem()
        second[60] = 0x21
        let error = certificateError { _ = try CertificateChain(pem: self.pem() + second) }
        #expect(error?.code == .damaged)
        #expect(error?.message.hasPrefix("certificate 2 is damaged (") == true)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func aCutOneIsDamaged() throws {
        let pem = try self.pem()
        let error = certificateError { _ = try CertificateChain(pem: Array(pem.dropLast(40))) }
        #expect(error?.message.hasPrefix("certificate 1 is damaged (") == true)
    }

    @Test func sharingAndReorderingKeepTheCertificates() throws {
        var chain: CertificateChain? = try CertificateChain(pem: self.pem() + self.pem() + self.pem())
        let der = chain?.der() ?? []
        guard let shared = chain?.shared(), let moved = chain?.movingToFront(2) else { return }
        chain = nil
        #expect(der.count == 3)
        #expect(shared.der() == der)
        #expect(moved.der() == [der[2], der[0], der[1]])
    }
}

@Suite struct TrustStoreTests {
    private let now: Int64 = 1_790_000_000

    /// OpenSSL's reading of the certificates in a PKCS#12 file; nil if the password is wrong or the file has a key.
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

    /// 2.16.840.1.113894.746875.1.1 with 2.5.29.37.0: without it, Java shows an empty store.
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
