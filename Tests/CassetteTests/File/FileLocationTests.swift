import Testing
@testable import CassetteStore

@Suite struct FileLocationTests {
    @Test func takesAPathApart() {
        #expect(FileLocation("pets.json") == FileLocation("./pets.json"))
        #expect(FileLocation("/a/b/c.json").folder == "/a/b")
        #expect(FileLocation("/c.json").folder == "/")
        #expect(FileLocation("/c.json").name == "c.json")
        #expect(FileLocation("/c.json").sibling("d") == "/d")
        #expect(FileLocation("a/c.json").sibling("d") == "a/d")
    }

    @Test func namesTheFolderOfBodies() {
        #expect(FileLocation("a/pets.json").bodiesName == "pets.bodies")
        #expect(FileLocation("a/pets").bodiesName == "pets.bodies")
        #expect(FileLocation("a/.json").bodiesName == ".json.bodies")
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "a\\b", "a\0", "a\n", String(repeating: "x", count: 256)])
    func aPlainNameLeadsNowhereElse(_ name: String) {
        #expect(!FileLocation.isPlainName(name))
    }

    @Test func usualNamesArePlain() {
        for name in ["a", "..a", "5f.jpg", ".part-1", "음식.png"] { #expect(FileLocation.isPlainName(name)) }
    }
}
