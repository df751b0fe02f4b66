import TapeTrust
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct AuthorityOptionsTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func theOptionGoesBeforeTheEnvironment() throws {
        let environment = ["WIRETAPE_CA_DIR": "/environment"]
        #expect(try AuthorityOptions.parse(["--ca-dir", "/option"]).folder(environment: environment) == "/option")
        #expect(try AuthorityOptions.parse([]).folder(environment: environment) == "/environment")
        #expect(try AuthorityOptions.parse(["--ca-dir", "x"]).folder(environment: environment) == AuthorityLocation.absolute("x"))
    }

    @Test func theFolderThatIsGivenIsTheRuns() throws {
        let place = try AuthorityOptions.parse(["--ca-dir", "/dev/null/ca"]).place(environment: ["HOME": "/dev/null"])
        #expect(place == AuthorityPlace(folder: "/dev/null/ca"))
        let environment = ["HOME": "/dev/null", "TMPDIR": self.folder.path]
        for (arguments, isTold) in [([], true), (["--ca-cert", "x.pem"], false)] {
            let place = try AuthorityOptions.parse(arguments).place(environment: environment)
            #expect((place.notice != nil) == isTold && place.temporary != nil)
            place.temporary?.remove()
        }
    }

    @Test func theAuthorityIsMadeOnFirstUseAndKept() throws {
        let options = try AuthorityOptions.parse(["--ca-dir", self.folder.file("ca")])
        #expect(try options.certificateFile() == self.folder.file("ca/ca-cert.pem"))
        #expect(try self.folder.names() == [])
        let first = try options.certificate()
        #expect(first.file == self.folder.file("ca/ca-cert.pem"))
        #expect(try options.certificate() == first)
        #expect(try options.files() == [self.folder.file("ca/ca-cert.pem"), self.folder.file("ca/ca-key.pem")])
        #expect(try options.trustFolder() == self.folder.file("ca/trust"))
    }

    @Test func aGivenCertificateIsReadAndNothingMade() throws {
        let made = try MadeAuthority(in: self.folder.file("company"))
        let options = try AuthorityOptions.parse(["--ca-cert", made.certificateFile, "--ca-dir", self.folder.file("ca")])
        #expect(try options.certificate().pem == made.pem)
        #expect(try options.files() == [made.certificateFile])
        #expect(try options.trustFolder() == self.folder.file("ca/trust"))
        #expect(try self.folder.names() == ["company"])
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        try self.folder.write([1], to: "file")
        let options = try AuthorityOptions.parse(["--ca-dir", self.folder.file("file/ca")])
        #expect(trustProblem { _ = try options.certificate() }?.contains(self.folder.file("file")) == true)
    }
}

@Suite struct AuthorityCertificateTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func theCertificateIsReadWithoutTheTextAroundIt() throws {
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

    @Test func issuersAreIncluded() throws {
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
