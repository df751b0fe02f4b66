import Testing
@testable import TapeTLS

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
