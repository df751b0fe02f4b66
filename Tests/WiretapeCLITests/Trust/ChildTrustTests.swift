import Foundation
import TapeTrust
import Testing

@testable import WiretapeCLI

@Suite struct ChildTrustTests {
    private let folder: TemporaryFolder
    private let authority: [UInt8]
    private let trust: TrustFolder

    init() throws {
        self.folder = try TemporaryFolder()
        self.authority = try MadeAuthority(in: self.folder.file("ca")).pem
        self.trust = TrustFolder(path: self.folder.file("ca/trust"))
    }

    /// The certificate of another authority, in a file.
    private func roots(_ name: String) throws -> (path: String, pem: [UInt8]) {
        let made = try MadeAuthority(in: self.folder.file("other-\(name)"))
        return (made.certificateFile, made.pem)
    }

    private func prepare(_ parent: [String: String] = [:], places: [String] = []) throws -> ChildTrust {
        try ChildTrust.prepare(authority: self.authority, folder: self.trust, parent: parent, places: places)
    }

    private func contents(_ trust: ChildTrust) throws -> [[UInt8]] {
        var certificates = PEMCertificates()
        certificates.add(try TemporaryFolder.contents(trust.bundle))
        return certificates.contents
    }

    private func contents(_ pems: [UInt8]...) -> [[UInt8]] {
        var certificates = PEMCertificates()
        for pem in pems { certificates.add(pem) }
        return certificates.contents
    }

    @Test func theSystemsRootsComeFirstAndOursLast() throws {
        let system = try self.roots("system")
        let trust = try self.prepare(places: [system.path])
        #expect(try self.contents(trust) == self.contents(system.pem, self.authority))
        #expect(trust.notices == [])
        let name = (trust.bundle as NSString).lastPathComponent
        #expect(name.hasPrefix("bundle-") && name.hasSuffix(".pem") && name.count == "bundle-.pem".count + 12)
    }

    @Test func withoutSystemRootsOursIsThereAlone() throws {
        let trust = try self.prepare()
        #expect(try self.contents(trust) == self.contents(self.authority))
        #expect(trust.notices.count == 1 && trust.notices[0].contains("install ca-certificates"))
    }

    @Test func whatTheParentsVariablesNameStaysTrusted() throws {
        let system = try self.roots("system")
        let company = try self.roots("company")
        let node = try self.roots("node")
        let trust = try self.prepare(
            [
                "SSL_CERT_FILE": system.path, "REQUESTS_CA_BUNDLE": company.path, "CURL_CA_BUNDLE": company.path, "PIP_CERT": system.path,
                "NODE_EXTRA_CA_CERTS": node.path, "AWS_CA_BUNDLE": "/none.pem", "DENO_CERT": "", "GIT_SSL_CAINFO": self.folder.path,
            ])
        #expect(try self.contents(trust) == self.contents(system.pem, company.pem, node.pem, self.authority))
    }

    @Test func rootsThatCannotBeReadCostJavaItsStoreAlone() throws {
        let damaged = try self.folder.write("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8, to: "damaged.pem")
        let trust = try self.prepare(places: [damaged])
        #expect(trust.javaStore == nil && trust.notices.count == 1 && trust.notices[0].contains("Java"))
        #expect(try self.contents(trust).count == 2)
    }

    @Test func filesAreMadeOnceForTheSameRoots() throws {
        let system = try self.roots("system")
        let first = try self.prepare(places: [system.path])
        let names = try self.folder.names(in: "ca/trust")
        #expect(try self.prepare(places: [system.path]) == first)
        #expect(try self.folder.names(in: "ca/trust") == names)
    }

    @Test func otherRootsGetOtherFiles() throws {
        let system = try self.roots("system")
        let first = try self.prepare(places: [system.path])
        try self.roots("more").pem.withUnsafeBytes { bytes in
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: system.path))
            try file.seekToEnd()
            try file.write(contentsOf: bytes)
        }
        let second = try self.prepare(places: [system.path])
        #expect(second.bundle != first.bundle && second.javaStore != first.javaStore)
        #expect(try self.contents(second).count == 3)
    }

    @Test func aRunInARunComesToAnEnd() throws {
        let system = try self.roots("system")
        var trust = try self.prepare(places: [system.path])
        for _ in 0..<3 {
            trust = try self.prepare(["SSL_CERT_FILE": trust.bundle, "WGETRC": trust.wgetSettings], places: [system.path])
            #expect(try self.contents(trust) == self.contents(system.pem, self.authority))
        }
        // Bundles: of the system's roots, of a bundle of these.
        #expect(try self.folder.names(in: "ca/trust").filter { $0.hasPrefix("bundle") }.count == 2)
    }

    @Test func wgetsSettingsAreTheUsersAndForTheUserAlone() throws {
        let own = try self.folder.write("password = x\n".utf8, to: "wgetrc")
        let trust = try self.prepare(["WGETRC": own])
        let text = String(decoding: try TemporaryFolder.contents(trust.wgetSettings), as: UTF8.self)
        #expect(text.hasPrefix("password = x\n") && text.hasSuffix("ca_certificate = \(trust.bundle)\n"))
        #expect(try FileManager.default.attributesOfItem(atPath: trust.wgetSettings)[.posixPermissions] as? Int == 0o600)
    }

    @Test(.enabled(if: Programs.isInstalled("keytool"))) func javasOwnToolListsEveryRootAsTrusted() throws {
        let system = try self.roots("system")
        let trust = try self.prepare(places: [system.path])
        let store = try #require(trust.javaStore)
        let end = try ExternalProgram.run(
            try Programs.find("keytool"), ["-list", "-storetype", "PKCS12", "-storepass", ChildTrust.javaPassword, "-keystore", store])
        #expect(end.status == 0, "\(end.outputText)")
        #expect(end.outputText.components(separatedBy: "trustedCertEntry").count == 3, "\(end.outputText)")
    }
}
