@testable import TapeTrust
import TapeBytes
import Testing

@Suite struct PublicKeyPinTests {
    /// The digest in the examples of RFC 7469, 2.1.5.
    private static let base64 = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="

    @Test(arguments: ["sha256/", "sha256//"], [true, false])
    func rfcsAndCurlsSpellingsAreRead(prefix: String, isPadded: Bool) throws {
        let text = prefix + (isPadded ? Self.base64 : String(Self.base64.dropLast()))
        let pin = try PublicKeyPin(text)
        #expect(pin.digest.count == 32)
        #expect(pin.digest.first == 0x77)
        #expect(pin.description == "sha256/" + Self.base64)
    }

    @Test(arguments: ["sha256/", "sha256//"], [true, false])
    func aDigestThatBeginsWithASlashIsWhole(prefix: String, isPadded: Bool) throws {
        let digest = Array(repeating: UInt8(0xFF), count: 32)
        let base64 = String(repeating: "/", count: 42) + "8" + (isPadded ? "=" : "")
        #expect(try PublicKeyPin(prefix + base64).digest == digest)
    }

    @Test(arguments: [
        ("", "\"\" is not a public key pin; write sha256/ and the digest of the public key in base64, 44 characters"),
        ("d6qz", "\"d6qz\" is not a public key pin; write sha256/ and the digest of the public key in base64, 44 characters"),
        (
            "sha1/d6qz",
            "\"sha1/d6qz\" uses the digest \"sha1\", and only sha256 is supported; write sha256/ and the digest of the public key in base64, 44 characters"
        ),
        (
            "sha256/d6qz",
            "the pin \"sha256/d6qz\" holds 3 bytes, and a SHA-256 has 32; write sha256/ and the digest of the public key in base64, 44 characters"
        ),
        (
            "sha256/d6q-",
            "the pin \"sha256/d6q-\" is not base64; write sha256/ and the digest of the public key in base64, 44 characters"
        ),
    ])
    func invalidPinExplainsTheFormat(text: String, message: String) {
        #expect(throws: SettingSyntaxError(message)) { try PublicKeyPin(text) }
    }

    @Test func aDigestHas32Bytes() {
        #expect(PublicKeyPin(digest: Array(0..<31)) == nil)
        #expect(PublicKeyPin(digest: Array(0..<32))?.digest == Array(0..<32))
    }
}
