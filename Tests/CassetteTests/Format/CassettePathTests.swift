import Testing

@testable import CassetteFormat

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
