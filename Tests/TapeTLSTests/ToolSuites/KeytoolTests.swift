import Foundation
import Testing
@testable import TapeTLS
import TapeTestSupport

/// Java reads our trust stores, if it is installed.
@Suite(.enabled(if: Tool("keytool") != nil)) struct KeytoolTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func list(_ file: [UInt8], _ type: String = "PKCS12") throws -> String {
        let path = try self.folder.write(file, to: "trust.p12")
        return try #require(Tool("keytool")).run(
            ["-J-Duser.language=en", "-list", "-storetype", type, "-keystore", path, "-storepass", "changeit"]
        ).text
    }

    @Test func everyCertificateIsATrustedEntry() throws {
        let authorities = try (0..<5).flatMap { _ in try CertificateAuthority.make(now: 1_790_000_000).certificatePEM() }
        let text = try self.list(TrustStore.pkcs12(certificatesPEM: authorities, password: "changeit"))
        #expect(text.contains("contains 5 entries"), "\(text)")
        #expect(text.components(separatedBy: "trustedCertEntry").count == 6)
    }

    @Test func theFormatOfJavaHasEachCertificateOnce() throws {
        let one = try CertificateAuthority.make(now: 1_790_000_000).certificatePEM()
        let two = try CertificateAuthority.make(now: 1_790_000_000).certificatePEM()
        // Java compares the checksum, as it has a password.
        let text = try self.list(JavaKeyStore.file(certificatesPEM: one + two + one, password: "changeit"), "JKS")
        #expect(text.contains("contains 2 entries"), "\(text)")
        #expect(text.components(separatedBy: "trustedCertEntry").count == 3)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt")))
    func theBundleOfTheSystemIsReadCompletely() throws {
        let bundle = try Array(Data(contentsOf: URL(fileURLWithPath: "/etc/ssl/certs/ca-certificates.crt")))
        let count = try CertificateChain(pem: bundle).count
        let own = try CertificateAuthority.make(now: 1_790_000_000).certificatePEM()
        let text = try self.list(TrustStore.pkcs12(certificatesPEM: bundle + own, password: "changeit"))
        #expect(text.contains("contains \(count + 1) entries"))
        #expect(text.components(separatedBy: "trustedCertEntry").count == count + 2)
    }
}
