import Testing

@testable import TapeCore

@Suite struct SidecarNameTests {
    private let digest = String(repeating: "0af9", count: 16)

    @Test func theDigestIsTheNameUpToItsExtension() {
        #expect(SidecarName.digest(in: "pets.bodies/\(self.digest).jpg") == self.digest)
        #expect(SidecarName.digest(in: self.digest) == self.digest)
    }

    @Test func otherNamesHaveNone() {
        for path in [
            "", "/", "a/photo.jpg", "\(self.digest)/a", "\(self.digest.uppercased()).jpg", "\(self.digest)0.jpg",
            "\(self.digest.dropLast()).jpg",
        ] {
            #expect(SidecarName.digest(in: path) == nil)
        }
    }
}
