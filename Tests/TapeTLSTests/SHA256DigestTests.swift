import TapeTLS
import Testing

@Suite struct SHA256DigestTests {
    /// `#require` does not support noncopyable values.
    private struct NoDigest: Error {}

    private func hex(_ text: String, pieces: Int = 1) throws -> String {
        guard var digest = SHA256Digest() else { throw NoDigest() }
        let bytes = Array(text.utf8)
        let step = max(1, bytes.count / pieces)
        var offset = 0
        while offset < bytes.count {
            let end = min(offset + step, bytes.count)
            bytes[offset..<end].withUnsafeBytes { digest.update($0) }
            offset = end
        }
        return digest.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Examples of FIPS 180-4.
    @Test func digestsOfTheStandardComeOut() throws {
        #expect(try self.hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(try self.hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func piecesMakeTheSameDigest() throws {
        let text = String(repeating: "wiretape ", count: 1000)
        #expect(try self.hex(text, pieces: 7) == self.hex(text))
    }

    @Test func aFinalizedDigestStartsOver() throws {
        guard var digest = SHA256Digest() else { throw NoDigest() }
        Array("abc".utf8).withUnsafeBytes { digest.update($0) }
        let first = digest.finalize()
        Array("abc".utf8).withUnsafeBytes { digest.update($0) }
        #expect(digest.finalize() == first)
    }
}
