import Testing

@testable import CassetteRedaction

@Suite struct PrivateKeyBlockTests {
    static let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3\nxfn/ygWyF0\n-----END RSA PRIVATE KEY-----"

    @Test func itsArmourStays() {
        #expect(
            RedactionFixtures.body(Self.key, type: "text/plain")
                == "-----BEGIN RSA PRIVATE KEY-----\n{{private-key:1}}\n-----END RSA PRIVATE KEY-----")
    }

    @Test func isOneSecretInJSONToo() {
        let vault = SecretVault()
        _ = RedactionFixtures.body(Self.key, type: "text/plain", vault: vault)
        let json = "{\"k\":\"" + Self.key.replacing("\n", with: "\\n") + "\\n\"}"
        #expect(
            RedactionFixtures.body(json, vault: vault)
                == #"{"k":"-----BEGIN RSA PRIVATE KEY-----\n{{private-key:1}}\n-----END RSA PRIVATE KEY-----\n"}"#)
    }

    @Test func aLineOfItIsFoundElsewhere() {
        let vault = SecretVault()
        _ = RedactionFixtures.body(Self.key, type: "text/plain", vault: vault)
        #expect(RedactionFixtures.body("x MIIEpAIBAAKCAQEA0Z3VS5JJcds3 y", type: "text/plain", vault: vault) == "x {{private-key:1}} y")
    }

    @Test func publicKeysAreNone() {
        Array("-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3\n-----END".utf8).withUnsafeBytes {
            #expect(PrivateKeyBlock($0, beginAt: 5, limit: 1000) == nil)
        }
    }

    @Test func inAFormItIsTheSameSecret() {
        let vault = SecretVault()
        _ = RedactionFixtures.body(Self.key, type: "text/plain", vault: vault)
        let form = "k=" + Self.key.replacing("\n", with: "%0A").replacing(" ", with: "+").replacing("/", with: "%2F") + "&x=1"
        let redacted = RedactionFixtures.body(form, type: "application/x-www-form-urlencoded", vault: vault)
        #expect(
            redacted
                == "k=-----BEGIN+RSA+PRIVATE+KEY-----%0A%7B%7Bprivate-key%3A1%7D%7D%0A-----END+RSA+PRIVATE+KEY-----&x=1")
    }
}
