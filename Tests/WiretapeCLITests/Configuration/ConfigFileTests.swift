import Foundation
import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ConfigFileTests {
    private let yaml = """
        repeat: last
        ignore: [query:all]
        cassettes:
          "pets*.json":
            repeat: cycle
            ignore: [query:pets]
          "slow/*.json":
            order: strict
          pets-new.json:
            repeat: never
        """

    private func settings(_ cassette: String, in folder: String = "/w/app") throws -> RunSettings {
        try ConfigFile(path: "/w/wiretape.yaml", bytes: Array(self.yaml.utf8)).settings(for: cassette, in: folder)
    }

    @Test func laterSectionsLieOverEarlierOnesAndAllOverTheTop() throws {
        #expect(try self.settings("a.json")[Settings.repetition]?.value == .last)
        #expect(try self.settings("pets.json")[Settings.repetition]?.value == .cycle)
        #expect(try self.settings("tapes/pets-new.json")[Settings.repetition]?.value == .never)
        #expect(try self.settings("pets.json")[Settings.ignore].map(\.value) == ["query:all", "query:pets"])
        #expect(try self.settings("pets.json")[Settings.repetition]?.source == .file("/w/wiretape.yaml", line: 5, section: "pets*.json"))
    }

    @Test func aNameWithASlashIsSeenFromTheFile() throws {
        #expect(try self.settings("../slow/a.json")[Settings.order]?.value == .strict)
        #expect(try self.settings("slow/a.json")[Settings.order] == nil)
        #expect(try self.settings("slow/a.json", in: "/w")[Settings.order]?.value == .strict)
    }

    @Test func jsonIsReadByItsName() throws {
        let file = try ConfigFile(path: "w.json", bytes: Array("{\"repeat\": \"last\", \"cassettes\": {\"a\": {\"order\": \"any\"}}}".utf8))
        #expect(file.settings[Settings.repetition]?.value == .last && file.sections.count == 1)
    }

    @Test func aMissingOrTooLargeFileIsReported() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SettingError.self) { try ConfigFile(path: folder.file("none.yaml")) }
        let path = try folder.write(Array(repeating: UInt8(ascii: "#"), count: ConfigFile.sizeLimit + 1), to: "w.yaml")
        let error = #expect(throws: SettingError.self) { try ConfigFile(path: path) }
        #expect(error?.message.contains("has more than") == true)
        try folder.write(Array("#".utf8), to: "w.yaml")
        #expect(try ConfigFile(path: path).settings == RunSettings())
    }
}

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

@Suite struct ConfigSearchTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write([], to: "home/repo/a/b/file")
        try self.folder.write([], to: "home/repo/.git/HEAD")
    }

    private func found(from name: String, user: uid_t = geteuid()) throws -> String? {
        try ConfigSearch(folder: self.folder.file(name), home: self.folder.file("home"), user: user).path()
    }

    @Test(arguments: ConfigSearch.names)
    func theNearestFileIsFound(_ name: String) throws {
        try self.folder.write([], to: "home/repo/\(name)")
        #expect(try self.found(from: "home/repo/a/b") == self.folder.file("home/repo/\(name)"))
        try self.folder.write([], to: "home/repo/a/\(name)")
        #expect(try self.found(from: "home/repo/a/b") == self.folder.file("home/repo/a/\(name)"))
    }

    @Test func theSearchEndsAtTheRepository() throws {
        try self.folder.write([], to: "home/wiretape.yaml")
        #expect(try self.found(from: "home/repo/a") == nil)
        #expect(try self.found(from: "home") == self.folder.file("home/wiretape.yaml"))
    }

    @Test func theSearchEndsAtHome() throws {
        try self.folder.write([], to: "wiretape.yaml")
        try self.folder.write([], to: "home/free/file")
        #expect(try self.found(from: "home/free") == nil)
        #expect(try self.found(from: "") == self.folder.file("wiretape.yaml"))
    }

    @Test func twoInOneFolderAreAMistake() throws {
        try self.folder.write([], to: "home/repo/wiretape.yaml")
        try self.folder.write([], to: "home/repo/wiretape.json")
        let error = #expect(throws: SettingError.self) { try self.found(from: "home/repo") }
        #expect(error?.message.contains("keep one of them") == true)
    }

    @Test func aStrangersFileIsIgnored() throws {
        guard geteuid() != 0 else {
            // Only root can change the owner of a file, and everyone trusts root's own files.
            try self.folder.write([], to: "home/repo/wiretape.yaml")
            #expect(chown(self.folder.file("home/repo/wiretape.yaml"), 4242, 4242) == 0)
            let error = #expect(throws: SettingError.self) { try self.found(from: "home/repo/a") }
            #expect(error?.message.contains("belongs to another user") == true)
            #expect(try self.found(from: "home/repo/a", user: 4242) != nil)
            #expect(chown(self.folder.file("home/repo/a"), 4242, 4242) == 0)
            #expect(try self.found(from: "home/repo/a") != nil)
            return
        }
        try self.folder.write([], to: "home/repo/wiretape.yaml")
        #expect(try self.found(from: "home/repo/a") != nil)
    }
}
