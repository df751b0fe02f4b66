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

    /// Of a file that keytool has made, with a private key in it besides trusted certificates, encrypted or not.
    @Test(arguments: ["JKS", "JCEKS", "PKCS12", "PKCS12 without a password"])
    func theRootsOfOtherFilesAreKept(_ format: String) throws {
        let one = try CertificateAuthority.make(now: 1_790_000_000).certificatePEM()
        let two = try CertificateAuthority.make(now: 1_790_000_000).certificatePEM()
        let path = self.folder.file("cacerts")
        let store = ["-storetype", format.split(separator: " ").map(String.init)[0], "-keystore", path, "-storepass", "changeit"]
        let tool = try #require(Tool("keytool"))
        let open =
            format == "PKCS12 without a password"
            ? ["-J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE", "-J-Dkeystore.pkcs12.macAlgorithm=NONE"] : []
        _ = try tool.run(open + ["-importcert", "-noprompt", "-alias", "two", "-file", try self.folder.write(two, to: "two.pem")] + store)
        _ = try tool.run(open + ["-genkeypair", "-keyalg", "EC", "-alias", "key", "-dname", "CN=key", "-keypass", "changeit"] + store)
        let file = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        let kept = try JavaKeyStore.file(certificatesPEM: one, password: "changeit", others: [file])
        #expect(kept == (try JavaKeyStore.file(certificatesPEM: one + two, password: "changeit")))
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
