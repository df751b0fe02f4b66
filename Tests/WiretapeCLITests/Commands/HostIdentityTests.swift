import TapeTrust
import Testing

@testable import WiretapeCLI

@Suite struct HostIdentityTests {
    @Test func oneFileHoldsBothOrTwoHoldEach() throws {
        let one = try HostIdentity("*.example.test=both.pem")
        #expect(one.hosts == (try HostPattern("*.example.test")) && one.certificateFile == "both.pem" && one.keyFile == "both.pem")
        let two = try HostIdentity("example.test:8443=cert.pem,keys/key.pem")
        #expect(two.certificateFile == "cert.pem" && two.keyFile == "keys/key.pem")
    }

    @Test(arguments: ["example.test", "example.test=", "example.test=,", "a=b,", "a=,b", "a=b,c,d", "a/b=c"])
    func whatIsNoIdentityIsToldWithTheRightForm(text: String) {
        #expect(trustProblem { _ = try HostIdentity(text) }?.contains("write") == true, "\(text)")
    }
}
