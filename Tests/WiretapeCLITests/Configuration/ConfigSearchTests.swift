import Foundation
import TapeProxy
import Testing

@testable import WiretapeCLI

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

    @Test func aStrangersFileIsNone() throws {
        guard geteuid() != 0 else {
            // Only root can give a file away, and root's own files are trusted by all.
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
