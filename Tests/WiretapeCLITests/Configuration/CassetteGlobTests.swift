import Testing

@testable import WiretapeCLI

@Suite struct CassetteGlobTests {
    @Test(
        arguments: [
            ("pets*.json", "pets.json", true), ("pets*.json", "a/b/pets-2.json", true), ("pets*.json", "a/pets/x.json", false),
            ("a/*.json", "a/x.json", true), ("a/*.json", "a/b/x.json", false), ("./a/*.json", "a/x.json", true), ("*", "a/x", true),
            ("x.json", "y.json", false), ("[ab].json", "b.json", true), ("", "", true),
        ])
    func aPatternFitsAsInAShell(_ glob: String, _ name: String, _ fits: Bool) {
        #expect(CassetteGlob(glob).fits(name) == fits)
    }

    @Test(
        arguments: [
            ("x.json", "/w/app", "/w", "app/x.json"), ("../x.json", "/w/app", "/w", "x.json"), ("/w/a/./x.json", "/", "/w", "a/x.json"),
            ("../../../x", "/w", "/w", "/x"), ("x", "/wide", "/w", "/wide/x"), ("x", "/w", "/", "w/x"),
        ])
    func aPathIsSeenFromTheFilesFolder(_ path: String, _ folder: String, _ base: String, _ name: String) {
        #expect(CassetteGlob.name(of: path, in: folder, seenFrom: base) == name)
    }

    @Test func theFolderOfAPath() {
        #expect(CassetteGlob.folder(of: "/a/b/c") == "/a/b" && CassetteGlob.folder(of: "/a") == "/" && CassetteGlob.folder(of: "/") == "/")
    }
}
