import Foundation
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct CAExportCommandTests {
    private let folder: TemporaryFolder
    private let made: MadeAuthority

    init() throws {
        self.folder = try TemporaryFolder()
        self.made = try MadeAuthority(in: self.folder.file("ca"))
    }

    private func export(_ arguments: [String]) throws -> ExternalProgram.Ended {
        try Wiretape.run(["ca", "export", "--ca-dir", self.folder.file("ca")] + arguments)
    }

    private func command(_ arguments: [String]) throws -> CAExportCommand {
        try CAExportCommand.parse(["--ca-dir", self.folder.file("ca")] + arguments)
    }

    @Test func pemIsTheCertificateAndNeverTheKey() throws {
        let end = try self.export([])
        #expect(end.status == 0 && end.output == self.made.pem, "\(end.errors)")
    }

    @Test func derIsTheSameCertificate() throws {
        let path = try self.folder.write(try self.export(["--format", "der"]).output, to: "ca.der")
        let openssl = try ExternalProgram.run(try Programs.find("openssl"), ["x509", "-inform", "der", "-in", path])
        #expect(openssl.output == self.made.pem)
    }

    @Test(.enabled(if: Programs.isInstalled("keytool")), arguments: [nil, "korean-dog"] as [String?])
    func p12IsATrustStoreForJava(password: String?) throws {
        let path = self.folder.file("ca.p12")
        let end = try self.export(["--format", "p12", "--output", path] + (password.map { ["--password", $0] } ?? []))
        #expect(end.status == 0 && end.output.isEmpty, "\(end.errors)")
        let list = try ExternalProgram.run(
            try Programs.find("keytool"), ["-list", "-storetype", "PKCS12", "-keystore", path, "-storepass", password ?? "changeit"])
        #expect(list.outputText.contains("trustedCertEntry"), "\(list.outputText)")
        let openssl = try ExternalProgram.run(
            try Programs.find("openssl"), ["pkcs12", "-in", path, "-nodes", "-passin", "pass:\(password ?? "changeit")"])
        #expect(openssl.outputText.contains("BEGIN CERTIFICATE") && !openssl.outputText.contains("PRIVATE KEY"), "\(openssl.errors)")
    }

    @Test(arguments: ["der", "p12"]) func binaryIsNotForATerminal(format: String) throws {
        let pair = try TerminalPair()
        let message = trustProblem { try self.command(["--format", format]).export(to: Terminal(pair.descriptor)) }
        #expect(message?.hasPrefix("\(format) is binary, which a terminal cannot show: pass --output wiretape-ca.\(format)") == true)
        #expect(pair.written().isEmpty)
    }

    @Test func textIsForATerminal() throws {
        let pair = try TerminalPair()
        try self.command([]).export(to: Terminal(pair.descriptor))
        #expect(pair.written() == String(decoding: self.made.pem, as: UTF8.self))
    }

    @Test func theAuthorityIsNotWrittenOver() throws {
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: self.made.keyFile)
        for path in [self.made.certificateFile, self.made.keyFile, self.folder.file("link")] {
            let before = try TemporaryFolder.contents(path)
            let end = try self.export(["--format", "der", "--output", path])
            #expect(end.status == 1 && end.errors.contains("is the authority itself"), "\(end.errors)")
            #expect(try TemporaryFolder.contents(path) == before)
        }
    }

    @Test func aFileThatCannotBeWrittenIsNamed() throws {
        let end = try self.export(["--output", self.folder.file("none/ca.pem")])
        #expect(end.status == 1 && end.errors.contains("none/ca.pem\" (No such file or directory)"), "\(end.errors)")
    }
}

/// `ca path`: prints the path of the certificate, and creates it on first use.
@Suite struct CAPathCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int
    }

    @Test func theAuthorityIsMadeForTheUserAlone() throws {
        let end = try Wiretape.run(["ca", "path"], environment: ["XDG_DATA_HOME": self.folder.path, "WIRETAPE_CA_DIR": ""])
        #expect(end.status == 0 && end.outputText == self.folder.file("wiretape/ca-cert.pem") + "\n", "\(end.errors)")
        #expect(try self.mode("wiretape") == 0o700)
        #expect(try self.mode("wiretape/ca-key.pem") == 0o600)
        #expect(try self.mode("wiretape/ca-cert.pem") == 0o644)
    }

    @Test func aRelativeFolderIsPrintedAsAWholePath() throws {
        let end = try Wiretape.run(["ca", "path", "--ca-dir", "my ca"], directory: self.folder.path)
        #expect(end.outputText.hasPrefix("/") && end.outputText.hasSuffix("/my ca/ca-cert.pem\n"), "\(end.outputText)")
        #expect(try self.folder.names(in: "my ca") == ["ca-cert.pem", "ca-key.pem"])
    }

    @Test func manyFirstUsesAtOnceEndUpWithOneAuthority() throws {
        let programs = try (0..<6).map { _ in try Wiretape.start(["ca", "export", "--ca-dir", self.folder.file("ca")]) }
        defer { for program in programs { program.stop() } }
        let ends = try programs.map { try $0.wait() }
        for end in ends { #expect(end.status == 0 && end.output == ends[0].output, "\(end.errors)") }
        #expect(try self.folder.read("ca/ca-cert.pem") == ends[0].output)
        #expect(try self.folder.names(in: "ca") == ["ca-cert.pem", "ca-key.pem"])
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        try self.folder.write([1], to: "file")
        let end = try Wiretape.run(["ca", "path", "--ca-dir", self.folder.file("file/ca")])
        #expect(end.status == 1 && end.outputText.isEmpty)
        #expect(end.errors.hasPrefix("wiretape: ") && end.errors.contains(self.folder.file("file")), "\(end.errors)")
    }
}

@Suite struct CAShowCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func shownDetailsMatchOpenSSL() throws {
        let made = try MadeAuthority(in: self.folder.file("ca"))
        let end = try Wiretape.run(["ca", "show", "--ca-dir", self.folder.file("ca")])
        #expect(end.status == 0, "\(end.errors)")
        let openssl = try ExternalProgram.run(
            try Programs.find("openssl"),
            ["x509", "-noout", "-fingerprint", "-sha256", "-subject", "-nameopt", "RFC2253", "-in", made.certificateFile])
        let lines = openssl.outputText.split(separator: "\n")
        let fingerprint = try #require(lines.first?.split(separator: "=").last)
        let subject = try #require(lines.last?.dropFirst("subject=".count))
        #expect(
            end.outputText == """
                subject      \(subject)
                fingerprint  SHA-256 \(fingerprint)
                valid        2026-11-19 to 2036-11-16
                key          P-256 (EC, 256 bits)
                file         \(made.certificateFile)

                """)
    }

    @Test func aGivenCertificateIsShownInItsPlace() throws {
        let made = try MadeAuthority(in: self.folder.file("company"))
        let end = try Wiretape.run(["ca", "show", "--ca-cert", made.certificateFile])
        #expect(end.outputText.hasSuffix("file         \(made.certificateFile)\n"), "\(end.errors)")
        let none = try Wiretape.run(["ca", "show", "--ca-cert", self.folder.file("none.pem")])
        #expect(none.status == 1 && none.errors.contains("none.pem\" (No such file or directory)"), "\(none.errors)")
    }

    @Test func namesThatMoveTheCursorAreSpelledOut() throws {
        let made = try MadeAuthority(in: self.folder.file("ca"))
        var certificate = try AuthorityCertificate(file: made.certificateFile)
        certificate.summary.subject = "CN=\u{1B}[2J"
        certificate.file = "/a\nb"
        #expect(!CAShowCommand.lines(certificate).contains { $0.contains("\u{1B}") || $0.contains("\n") })
    }
}
