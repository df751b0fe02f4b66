import Foundation
import TapeTrust
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ChildTrustTests {
    private let folder: TemporaryFolder
    private let authority: [UInt8]
    private let trust: TrustFolder

    init() throws {
        self.folder = try TemporaryFolder()
        self.authority = try MadeAuthority(in: self.folder.file("ca")).pem
        self.trust = TrustFolder(path: self.folder.file("ca/trust"))
    }

    /// A file with the certificate of another authority.
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

    @Test func rootsOfTheParentsVariablesStayTrusted() throws {
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
        // Two bundles: one of the system's roots, and one of that bundle.
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

@Suite struct TrustFolderTests {
    private static let day = 24 * 3600
    private let temporary: TemporaryFolder
    private let folder: TrustFolder

    init() throws {
        self.temporary = try TemporaryFolder()
        self.folder = TrustFolder(path: self.temporary.file("trust"))
    }

    private func make(_ name: String, _ bytes: [UInt8] = [1], mode: mode_t = 0o644, now: Int = time(nil)) throws -> String {
        try self.folder.file(name, mode: mode, now: now) { bytes }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func age(_ name: String, days: Int) throws {
        let date = Date(timeIntervalSinceNow: -Double(days * Self.day))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: self.folder.file(name))
    }

    @Test func aFileIsMadeOnceInAFolderOfTheUsersOwn() throws {
        let path = try self.make("bundle-1.pem", mode: 0o600)
        #expect(path == self.temporary.file("trust/bundle-1.pem"))
        #expect(try self.mode(self.folder.path) == 0o700 && self.mode(path) == 0o600)
        _ = try self.make("java-1.jks")
        _ = try self.make("java-1.jks", [2])
        #expect(try self.temporary.read("trust/java-1.jks") == [1])
    }

    /// A program may append a root to the file that `SSL_CERT_FILE` names. No later program trusts it.
    @Test func aBundleThatWasChangedIsMadeAgain() throws {
        let path = try self.make("bundle-1.pem", [1, 2])
        try self.temporary.write([1, 2, 3], to: "trust/bundle-1.pem")
        #expect(try self.make("bundle-1.pem", [1, 2]) == path)
        #expect(try self.temporary.read("trust/bundle-1.pem") == [1, 2])
    }

    @Test func parentFoldersAreCreatedToo() throws {
        let folder = TrustFolder(path: self.temporary.file("a/b/trust"))
        #expect(try folder.file("bundle-1.pem") { [1] } == self.temporary.file("a/b/trust/bundle-1.pem"))
        #expect(try self.mode(self.temporary.file("a")) == 0o700)
    }

    @Test func anEmptyFileIsCreatedAgain() throws {
        try self.temporary.write([], to: "trust/bundle-1.pem")
        _ = try self.make("bundle-1.pem")
        #expect(try self.temporary.read("trust/bundle-1.pem") == [1])
    }

    @Test func filesUnusedForAMonthAreRemovedWithTheNextOne() throws {
        for name in ["bundle-1.pem", "java-1.p12", "wgetrc-1", "bundle-2.pem", "own"] { _ = try self.make(name) }
        for name in ["bundle-1.pem", "java-1.p12", "wgetrc-1", "own"] { try self.age(name, days: 31) }
        try self.age("bundle-2.pem", days: 29)
        _ = try self.make("bundle-2.pem")
        #expect(try self.temporary.names(in: "trust").count == 5)
        _ = try self.make("bundle-3.pem")
        #expect(try self.temporary.names(in: "trust") == ["bundle-2.pem", "bundle-3.pem", "own"])
    }

    @Test func requestedFileStaysYoung() throws {
        _ = try self.make("bundle-1.pem")
        try self.age("bundle-1.pem", days: 31)
        _ = try self.make("bundle-1.pem")
        _ = try self.make("bundle-2.pem")
        #expect(try self.temporary.names(in: "trust") == ["bundle-1.pem", "bundle-2.pem"])
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        try self.temporary.write([1], to: "file")
        let folder = TrustFolder(path: self.temporary.file("file/trust"))
        let message = trustProblem { _ = try folder.file("bundle-1.pem") { [1] } }
        #expect(message == "cannot create the folder \"\(folder.path)\" (Not a directory): name another with --ca-dir.")
    }

    @Test func failedFileLeavesNothing() throws {
        #expect(trustProblem { _ = try self.folder.file("java-1.p12") { () throws(TrustError) in throw TrustError("no") } } == "no")
        #expect(!self.temporary.exists("trust"))
    }
}

@Suite struct WgetSettingsTests {
    private func text(_ user: String, _ bundle: String = "/b.pem") -> String {
        String(decoding: WgetSettings.text(user: Array(user.utf8), bundle: bundle), as: UTF8.self)
    }

    @Test func theUsersOwnGoFirst() {
        #expect(self.text("timeout = 3\n").hasPrefix("timeout = 3\n# by wiretape"))
        #expect(self.text("timeout = 3").hasPrefix("timeout = 3\n# by wiretape"))
        #expect(self.text("").hasSuffix("\nca_certificate = /b.pem\n"))
    }

    @Test func aRunInARunDoesNotAddAgain() {
        let once = self.text("timeout = 3\n", "/a.pem")
        #expect(self.text(once) == self.text("timeout = 3\n"))
        #expect(self.text(self.text("", "/a.pem")) == self.text(""))
    }

    @Test func theyAreFoundAsWgetFindsThem() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: ".wgetrc")
        let other = try folder.write([2], to: "other")
        #expect(WgetSettings.read(["HOME": folder.path]) == [1])
        #expect(WgetSettings.read(["HOME": folder.path, "WGETRC": other]) == [2])
        #expect(WgetSettings.read(["HOME": folder.path, "WGETRC": folder.file("none")]) == [])
        #expect(WgetSettings.read([:]) == [])
    }
}
