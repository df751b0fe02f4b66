import Foundation
import Testing

/// `ca path`: prints where the certificate is, and makes it on first use.
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
