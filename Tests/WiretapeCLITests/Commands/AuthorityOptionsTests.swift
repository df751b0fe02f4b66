import TapeTrust
import Testing

@testable import WiretapeCLI

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
