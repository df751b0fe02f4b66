import Testing

@testable import WiretapeCLI

@Suite struct AuthorityCertificateTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func theCertificateIsReadWithoutWhatStandsAroundIt() throws {
        let made = try MadeAuthority(in: self.folder.file("ca"))
        let path = try self.folder.write(Array("# ours\n".utf8) + made.pem + self.folder.read("ca/ca-key.pem"), to: "both.pem")
        let certificate = try AuthorityCertificate(file: path)
        #expect(certificate.pem == made.pem)
        #expect(certificate.chain == made.pem)
        #expect(certificate.file == path)
        #expect(certificate.summary.isAuthority && certificate.summary.subject.hasPrefix("CN=Wiretape CA"))
        #expect(certificate.key == "P-256 (EC, 256 bits)")
        #expect(certificate.der.first == 0x30)
    }

    @Test func whatSignedItComesAlong() throws {
        let made = try MadeAuthority(in: self.folder.file("ca"))
        let root = try MadeAuthority(in: self.folder.file("root"))
        let path = try self.folder.write(made.pem + root.pem, to: "chain.pem")
        let certificate = try AuthorityCertificate(file: path)
        #expect(certificate.pem == made.pem)
        #expect(certificate.chain == made.pem + root.pem)
    }

    @Test func aFileWithoutOneIsNamed() throws {
        let path = try self.folder.write("hello".utf8, to: "x.pem")
        #expect(trustProblem { _ = try AuthorityCertificate(file: path) }?.hasPrefix("\"\(path)\": no certificate in PEM form") == true)
    }
}
