@testable import CassetteFormat
import Testing

@Suite struct SidecarNameTests {
    private let digest = String(repeating: "0a", count: 32)

    @Test func isDigestAndExtension() {
        #expect(SidecarName(sha256: self.digest, fileExtension: "jpg")?.string == "\(self.digest).jpg")
        #expect(SidecarName("\(self.digest).jpg")?.fileExtension == "jpg")
    }

    @Test(arguments: ["", "j/g", "../x", "JPG", "toolongext", "a b", "j\0"])
    func anUnfitExtensionBecomesBin(_ text: String) {
        #expect(SidecarName(sha256: self.digest, fileExtension: text)?.fileExtension == "bin")
    }

    @Test func otherNamesAreNotOurs() {
        for name in [
            "", "notes.txt", self.digest, "\(self.digest).", "\(self.digest).J", "\(self.digest.uppercased()).jpg", "x\(self.digest).jpg",
        ] {
            #expect(SidecarName(name) == nil)
        }
        #expect(SidecarName(sha256: "abc", fileExtension: "jpg") == nil)
        #expect(SidecarName(sha256: String(repeating: "/", count: 64), fileExtension: "jpg") == nil)
    }

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

@Suite struct CassettePathTests {
    @Test(arguments: ["a", "pets.bodies/5f2c.jpg", "a/b/c", "..a/b..", "...", "음식/x y"])
    func pathsWithinTheFolderAreSafe(_ path: String) {
        #expect(CassettePath.objection(to: path) == nil)
    }

    @Test(arguments: [
        "", "/", "/a", "..", "../a", "a/..", "a/../b", ".", "./a", "a/.", "a//b", "a/", "a\\b", "..\\a", "a\u{0}b", "a\nb", "a\u{7F}",
    ])
    func everythingElseIsNot(_ path: String) {
        #expect(CassettePath.objection(to: path) != nil)
    }

    @Test func longPathsAreRefused() {
        #expect(CassettePath.objection(to: String(repeating: "a", count: 1024)) == nil)
        #expect(CassettePath.objection(to: String(repeating: "a", count: 1025)) == "is longer than 1,024 bytes")
    }
}
