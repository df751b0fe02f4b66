import TapeProxy
import TapeTLS
import TapeTrust
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct UpstreamTLSOptionsTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func settings(_ arguments: [String]) throws -> TLSSettings {
        var settings = TLSSettings(authority: .pem(certificate: [], key: []))
        try UpstreamTLSOptions.parse(arguments).apply(to: &settings)
        return settings
    }

    private static let digest = [UInt8](repeating: 7, count: 32)
    private static var pin: String { PublicKeyPin(digest: Self.digest)?.description ?? "" }

    @Test func valuesOfTheFileComeFirst() throws {
        let yaml = "passthrough: [a.test]\nrefuse: [b.test]\nupstreamCA: [a.pem]\ninsecureUpstream: [c.test]"
        let settings = try ConfigFile(path: "w.yaml", bytes: Array(yaml.utf8)).settings
        let options = try UpstreamTLSOptions.parse([
            "--passthrough", "d.test", "--refuse", "e.test", "--upstream-ca", "b.pem", "--insecure-upstream", "f.test",
        ])
        let laid = options.laid(over: settings)
        #expect(laid.passthrough.map(\.description) == ["a.test", "d.test"] && laid.refuse.map(\.description) == ["b.test", "e.test"])
        #expect(laid.upstreamCA == ["a.pem", "b.pem"] && laid.insecureUpstream.map(\.description) == ["c.test", "f.test"])
    }

    @Test func withoutOptionsEverythingIsOpenedAndChecked() throws {
        let settings = try self.settings([])
        #expect(settings.passthrough == [] && settings.refused == [] && settings.upstreamRoots == [])
        #expect(settings.trust.isEmpty && settings.identities.isEmpty && settings.upstreamMinimum == .tls12)
    }

    @Test func patternsAreRepeatable() throws {
        let settings = try self.settings([
            "--passthrough", "*.bank.test", "--refuse", "ads.test:443", "--passthrough", "[::1]:8443", "--upstream-tls-min", "1.0",
        ])
        #expect(settings.passthrough == [try HostPattern("*.bank.test"), try HostPattern("[::1]:8443")])
        #expect(settings.refused == [try HostPattern("ads.test:443")])
        #expect(settings.upstreamMinimum == .tls10)
    }

    @Test func pinsOfAHostAreOneRuleAndGoBeforeExceptions() throws {
        let settings = try self.settings([
            "--insecure-upstream", "*.test", "--pin", "a.test=\(Self.pin)", "--pin", "b.test=\(Self.pin)", "--pin", "a.test=\(Self.pin)",
        ])
        #expect(settings.trust.map(\.hosts.description) == ["a.test", "b.test", "*.test"])
        guard case .pinnedPublicKeys([Self.digest, Self.digest], true, true) = settings.trust[0].trust,
            case .pinnedPublicKeys([Self.digest], true, true) = settings.trust[1].trust, case .disabled = settings.trust[2].trust
        else {
            Issue.record("\(settings.trust)")
            return
        }
    }

    @Test func aPinnedFileCountsWithAllItsCertificates() throws {
        let one = try MadeAuthority(in: self.folder.file("one"))
        let other = try MadeAuthority(in: self.folder.file("other"))
        let path = try self.folder.write(one.pem + other.pem, to: "both.pem")
        guard case .pinnedCertificates(let pinned, true, true)? = try self.settings(["--pin", "a.test=\(path)"]).trust.first?.trust else {
            Issue.record("no certificates")
            return
        }
        #expect(
            pinned == [try AuthorityCertificate(file: one.certificateFile).der, try AuthorityCertificate(file: other.certificateFile).der])
    }

    @Test func keysAndCertificatesOfOneHostDoNotGoTogether() throws {
        let made = try MadeAuthority(in: self.folder.file("one"))
        let message = trustProblem { _ = try self.settings(["--pin", "a.test=\(Self.pin)", "--pin", "a.test=\(made.certificateFile)"]) }
        #expect(message == "--pin names keys and certificates for \"a.test\": use one kind for a host.")
    }

    @Test func rootsAreReadBeforeAnythingListens() throws {
        let made = try MadeAuthority(in: self.folder.file("one"))
        #expect(try self.settings(["--upstream-ca", made.certificateFile]).upstreamRoots == [made.certificateFile])
        let empty = try self.folder.write("hello".utf8, to: "empty.pem")
        for path in [empty, self.folder.file("none.pem"), made.keyFile] {
            #expect(trustProblem { _ = try self.settings(["--upstream-ca", path]) }?.contains("\"\(path)\"") == true)
            #expect(trustProblem { _ = try self.settings(["--pin", "a.test=\(path)"]) }?.contains("\"\(path)\"") == true)
        }
    }

    @Test func anIdentityIsReadFromOneFileOrTwo() throws {
        let made = try MadeAuthority(in: self.folder.file("one"))
        let other = try MadeAuthority(in: self.folder.file("other"))
        let both = try self.folder.write(made.pem + TemporaryFolder.contents(made.keyFile), to: "both.pem")
        let settings = try self.settings([
            "--client-cert", "a.test=\(both)", "--client-cert", "*=\(made.certificateFile),\(made.keyFile)",
        ])
        #expect(settings.identities.map(\.hosts.description) == ["a.test", "*"])
        let wrong = "a.test=\(made.certificateFile),\(other.keyFile)"
        #expect(trustProblem { _ = try self.settings(["--client-cert", wrong]) }?.contains(other.keyFile) == true)
        #expect(trustProblem { _ = try self.settings(["--client-cert", "a.test=\(made.certificateFile)"]) } != nil)
    }

    @Test(arguments: [
        ["--pin", "a.test"], ["--pin", "a.test=sha256/x"], ["--passthrough", "https://a/"], ["--client-cert", "a=b,c,d"],
        ["--upstream-tls-min", "3"], ["--insecure-upstream", ""],
    ])
    func wrongUsageIs64WithAnExample(_ options: [String]) throws {
        let end = try Wiretape.run(["record", "x.json"] + options)
        #expect(end.status == 64)
        #expect(end.errors.contains(options[0]), "\(end.errors)")
    }
}

@Suite struct HostIdentityTests {
    @Test func oneFileHoldsBothOrTwoHoldEach() throws {
        let one = try HostIdentity("*.example.test=both.pem")
        #expect(one.hosts == (try HostPattern("*.example.test")) && one.certificateFile == "both.pem" && one.keyFile == "both.pem")
        let two = try HostIdentity("example.test:8443=cert.pem,keys/key.pem")
        #expect(two.certificateFile == "cert.pem" && two.keyFile == "keys/key.pem")
    }

    @Test(arguments: ["example.test", "example.test=", "example.test=,", "a=b,", "a=,b", "a=b,c,d", "a/b=c"])
    func invalidIdentityIsReportedWithTheFormat(text: String) {
        #expect(trustProblem { _ = try HostIdentity(text) }?.contains("write") == true, "\(text)")
    }
}

@Suite struct HostPatternAssignmentTests {
    @Test func theFirstEqualsSignParts() throws {
        let (pattern, value) = try HostPattern.assignment("[::1]:8443=a=b", "A=B")
        #expect(pattern == (try HostPattern("[::1]:8443")) && value == "a=b")
    }

    @Test func missingValueIsReportedWithTheFormat() {
        #expect(trustProblem { _ = try HostPattern.assignment("a", "A=B") } == "there is no value for a host in \"a\": write A=B.")
        #expect(trustProblem { _ = try HostPattern.assignment("a=", "A=B") } == "there is no value for a host in \"a=\": write A=B.")
        #expect(trustProblem { _ = try HostPattern.assignment("a b=c", "A=B") }?.contains("a b") == true)
    }
}

@Suite struct HostPinTests {
    private static let digest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test(arguments: ["sha256/", "sha256//"])
    func aKeyIsGivenByItsDigest(prefix: String) throws {
        let pin = try HostPin("example.test=\(prefix)\(Self.digest)")
        #expect(pin.host == (try HostPattern("example.test")))
        #expect(pin.pin == .publicKey(try PublicKeyPin("sha256/\(Self.digest)")))
    }

    @Test func aCertificateIsGivenByItsFile() throws {
        #expect(try HostPin("*.example.test:8443=pins/a=b.pem").pin == .certificates("pins/a=b.pem"))
    }

    @Test(arguments: ["example.test", "example.test=", "=x.pem", "https://a/=x.pem", "example.test=sha256/xyz"])
    func invalidPinIsReportedWithTheFormat(text: String) {
        #expect(trustProblem { _ = try HostPin(text) }?.contains("write") == true, "\(text)")
    }
}
