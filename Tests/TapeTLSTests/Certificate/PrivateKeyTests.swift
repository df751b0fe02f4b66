import COpenSSL
import Testing
@testable import TapeTLS

@Suite struct PrivateKeyTests {
    private func code(_ pem: String) -> CertificateError.Code? {
        certificateError { _ = try PrivateKey(pem: Array(pem.utf8)) }?.code
    }

    @Test func aNewKeyComesBackFromItsPEM() throws {
        let key = try PrivateKey.makeP256()
        let pem = try key.pem()
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let again = try PrivateKey(pem: pem)
        #expect(EVP_PKEY_eq(key.pointer, again.pointer) == 1)
        #expect(try again.pem() == pem)
    }

    @Test func newKeysDiffer() throws {
        let first = try PrivateKey.makeP256()
        let second = try PrivateKey.makeP256()
        #expect(EVP_PKEY_eq(first.pointer, second.pointer) != 1)
        #expect(EVP_PKEY_get_bits(first.pointer) == 256)
    }

    @Test func readsTheOlderFormOfAnECKey() throws {
        let key = try PrivateKey(pem: Array(SampleKeys.plainEC.utf8))
        #expect(EVP_PKEY_get_bits(key.pointer) == 256)
        #expect(key.signsWithoutDigest == false)
    }

    @Test(arguments: [SampleKeys.encryptedPKCS8, SampleKeys.encryptedEC])
    func anEncryptedKeyIsRefusedWithoutAskingForAPassword(pem: String) {
        #expect(self.code(pem) == .encrypted)
    }

    @Test(arguments: ["", "key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\n"])
    func invalidKeyIsDamage(pem: String) {
        #expect(self.code(pem) == .damaged)
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func aSecondOwnerOutlivesTheFirst() throws {
        var key: PrivateKey? = try PrivateKey.makeP256()
        let pem = try key?.pem()
        guard let second = key?.shared() else { return }
        key = nil
        #expect(try second.pem() == pem)
    }
}
