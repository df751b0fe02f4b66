import Foundation
import Testing

@testable import WiretapeCLI

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
