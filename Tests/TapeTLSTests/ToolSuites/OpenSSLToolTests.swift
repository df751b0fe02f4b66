import Foundation
import Testing
@testable import TapeTLS
import TapeTestSupport

/// Other programs check our certificates: this machine's `openssl`.
@Suite(.enabled(if: Tool("openssl") != nil)) struct OpenSSLToolTests {
    private let folder: TemporaryFolder
    private let tool: Tool
    private let now = Int64(Date().timeIntervalSince1970)

    init() throws {
        self.folder = try TemporaryFolder()
        self.tool = try #require(Tool("openssl"))
    }

    private func verify(_ options: [String], _ leaf: String) throws -> Bool {
        let arguments = ["verify", "-x509_strict", "-CAfile", self.folder.file("ca.pem"), "-purpose", "sslserver"] + options + [leaf]
        return try self.tool.run(arguments).status == 0
    }

    @Test func theTextShowsWhatALeafHasToHave() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let leaf = try authority.mint(
            LeafNames(host: "example.test", upstream: ["*.example.test", "::1"]), key: PrivateKey.makeP256(), now: self.now
        )
        let path = try self.folder.write(leaf.pem(), to: "leaf.pem")
        let text = try self.tool.run(["x509", "-in", path, "-noout", "-text"]).text
        for line in [
            "Version: 3 (0x2)", "Signature Algorithm: ecdsa-with-SHA256", "Subject: CN = example.test", "ASN1 OID: prime256v1",
            "X509v3 Basic Constraints: critical\n                CA:FALSE",
            "X509v3 Key Usage: critical\n                Digital Signature\n",
            "X509v3 Extended Key Usage: \n                TLS Web Server Authentication\n", "X509v3 Subject Key Identifier",
            "X509v3 Authority Key Identifier", "DNS:example.test, DNS:*.example.test, IP Address:0:0:0:0:0:0:0:1",
        ] { #expect(text.contains(line), "\(line) is not in\n\(text)") }
        let ca = try self.folder.write(authority.certificatePEM(), to: "ca.pem")
        let caText = try self.tool.run(["x509", "-in", ca, "-noout", "-text"]).text
        #expect(caText.contains("X509v3 Basic Constraints: critical\n                CA:TRUE\n"))
        #expect(caText.contains("X509v3 Key Usage: critical\n                Certificate Sign, CRL Sign\n"))
        #expect(!caText.contains("Name Constraints"))
    }

    @Test func theHashOfASubjectIsTheOneThatFoldersGoBy() throws {
        let pem = try CertificateAuthority.make(now: self.now).certificatePEM()
        let ca = try self.folder.write(pem, to: "ca.pem")
        let said = try self.tool.run(["x509", "-in", ca, "-noout", "-hash"]).text
        let hash = try Certificate(pem: pem).subjectHash
        #expect(said == hash + "\n")
    }

    @Test func aLeafVerifiesForItsNamesAndNoOthers() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        try self.folder.write(authority.certificatePEM(), to: "ca.pem")
        let long = String(repeating: "a", count: 60) + ".example.test"
        let names = LeafNames(host: "example.test", serverName: long, upstream: ["*.example.test", "192.0.2.1", "2001:db8::7"])
        let leaf = try self.folder.write(authority.mint(names, key: PrivateKey.makeP256(), now: self.now).pem(), to: "leaf.pem")
        for host in ["example.test", "www.example.test", long] { #expect(try self.verify(["-verify_hostname", host], leaf)) }
        for address in ["192.0.2.1", "2001:db8::7"] { #expect(try self.verify(["-verify_ip", address], leaf)) }
        #expect(try !self.verify(["-verify_hostname", "other.test"], leaf))
        #expect(try !self.verify(["-verify_ip", "192.0.2.2"], leaf))

        let unnamed = try authority.mint(LeafNames(host: long), key: PrivateKey.makeP256(), now: self.now).pem()
        #expect(try self.verify(["-verify_hostname", long], self.folder.write(unnamed, to: "unnamed.pem")))
        #expect(try self.tool.run(["x509", "-in", self.folder.file("unnamed.pem"), "-noout", "-text"]).text.contains("Name: critical"))
    }

    @Test(arguments: [["rsa:2048"], ["ed25519"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]])
    func anAuthorityOfAnotherProgramSigns(key: [String]) throws {
        let made = try self.tool.run(
            ["req", "-x509", "-newkey"] + key + [
                "-nodes", "-keyout", self.folder.file("ca-key.pem"), "-out", self.folder.file("ca.pem"), "-days", "30", "-subj",
                "/O=Test/CN=Own CA", "-addext", "keyUsage=critical,keyCertSign",
            ]
        )
        try #require(made.status == 0, "\(made.text)")
        let files = AuthorityFiles(certificateFile: self.folder.file("ca.pem"), keyFile: self.folder.file("ca-key.pem"))
        let authority = try files.load(now: self.now + 5)
        #expect(authority.certificate.subject == "CN=Own CA,O=Test")
        let leaf = try authority.mint(LeafNames(host: "a.test"), key: PrivateKey.makeP256(), now: self.now + 5)
        #expect(leaf.notAfter == authority.certificate.notAfter)
        #expect(try self.verify(["-verify_hostname", "a.test"], self.folder.write(leaf.pem(), to: "leaf.pem")))
    }

    @Test func theTrustStoreOpensWithItsPassword() throws {
        let path = try self.folder.write(CertificateAuthority.make(now: self.now).certificateP12(password: "p\u{E4}ss"), to: "ca.p12")
        let shown = try self.tool.run(["pkcs12", "-in", path, "-passin", "pass:p\u{E4}ss", "-nokeys"])
        #expect(shown.status == 0, "\(shown.text)")
        #expect(shown.text.contains("friendlyName: CN=Wiretape CA "))
        #expect(try self.tool.run(["pkcs12", "-in", path, "-passin", "pass:wrong", "-nokeys"]).status != 0)
    }
}
