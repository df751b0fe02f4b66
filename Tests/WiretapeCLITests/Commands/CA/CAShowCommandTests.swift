import Testing

@testable import WiretapeCLI

@Suite struct CAShowCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func whatIsShownIsWhatOpenSSLSees() throws {
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
