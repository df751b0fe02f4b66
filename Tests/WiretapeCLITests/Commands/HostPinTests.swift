import TapeTrust
import Testing

@testable import WiretapeCLI

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
    func whatIsNoPinIsToldWithTheRightForm(text: String) {
        #expect(trustProblem { _ = try HostPin(text) }?.contains("write") == true, "\(text)")
    }
}
