import Foundation
import TapeTrust
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct AuthorityPlaceTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// A home that is not a folder represents any home that cannot be written, even for root.
    private func environment(home: String) throws -> [String: String] {
        try FileManager.default.createDirectory(atPath: self.folder.file("tmp"), withIntermediateDirectories: true)
        return ["HOME": home, "XDG_DATA_HOME": home == "/dev/null" ? "" : "\(home)/data", "TMPDIR": self.folder.file("tmp")]
    }

    private func home() throws -> String {
        try FileManager.default.createDirectory(atPath: self.folder.file("home"), withIntermediateDirectories: true)
        return self.folder.file("home")
    }

    @Test func aHomeKeepsIt() throws {
        let environment = try self.environment(home: self.home())
        let place = try AuthorityPlace(environment: environment, needsAuthority: true)
        #expect(try place == AuthorityPlace(folder: #require(AuthorityLocation.standard(environment: environment))))
        #expect(place.notice == nil && place.temporary == nil)
        #expect(place.trustFolder == place.folder + "/trust")
        #expect(try self.folder.names(in: "home") == [])
    }

    @Test func aFolderThatCannotBeMadeGivesTheRunOneOfItsOwn() throws {
        let environment = try self.environment(home: "/dev/null")
        let kept = try #require(AuthorityLocation.standard(environment: environment))
        let place = try AuthorityPlace(environment: environment, needsAuthority: true)
        #expect(place.folder == place.temporary?.path && place.folder.hasPrefix(self.folder.file("tmp/")))
        #expect(place.trustFolder == place.folder + "/trust")
        #expect(place.notice == "the authority cannot be stored in \"\(kept)\" (Not a directory): this run uses a temporary one.")
        place.temporary?.remove()
        #expect(try self.folder.names(in: "tmp") == [])
    }

    @Test func aHomeThatIsNotThereIsNotMade() throws {
        let home = self.folder.file("none")
        for spelling in [home, home + "/"] {
            let place = try AuthorityPlace(environment: self.environment(home: spelling), needsAuthority: true)
            #expect(place.notice?.contains("(there is no \"\(home)\")") == true, "\(place)")
            place.temporary?.remove()
        }
        #expect(try self.folder.names() == ["tmp"])
    }

    @Test func aFolderForDataIsMadeWhereItIsMissing() throws {
        var environment = try self.environment(home: self.home())
        environment["XDG_DATA_HOME"] = self.folder.file("elsewhere/data")
        #expect(try AuthorityPlace(environment: environment, needsAuthority: true).temporary == nil)
    }

    @Test func aNamedFolderIsNeverReplaced() throws {
        var environment = try self.environment(home: "/dev/null")
        environment["WIRETAPE_CA_DIR"] = "/dev/null/ca"
        #expect(try AuthorityPlace(environment: environment, needsAuthority: true) == AuthorityPlace(folder: "/dev/null/ca"))
    }

    @Test func aCertificateFromElsewhereNeedsAFolderForTheRestAndNoWord() throws {
        let place = try AuthorityPlace(environment: self.environment(home: "/dev/null"), needsAuthority: false)
        #expect(place.notice == nil && place.temporary.map { place.trustFolder == "\($0.path)/trust" } == true)
        place.temporary?.remove()
    }

    @Test func anAuthorityThatIsThereIsUsedThoughNothingCanBeAdded() throws {
        let environment = try self.environment(home: self.home())
        let kept = try #require(AuthorityLocation.standard(environment: environment))
        _ = try MadeAuthority(in: kept)
        try Data().write(to: URL(fileURLWithPath: kept + "/trust"))
        let place = try AuthorityPlace(environment: environment, needsAuthority: true)
        #expect(place.folder == kept && place.notice == nil)
        #expect(place.temporary.map { place.trustFolder == "\($0.path)/trust" } == true)
        place.temporary?.remove()
    }
}

@Suite struct RunFolderTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func itIsAmongTheTemporaryFilesForTheUserAlone() throws {
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        defer { run.remove() }
        #expect(run.path.hasPrefix(self.folder.path + "/wiretape-"))
        #expect(try FileManager.default.attributesOfItem(atPath: run.path)[.posixPermissions] as? Int == 0o700)
        let other = try RunFolder(environment: ["TMPDIR": self.folder.path])
        defer { other.remove() }
        #expect(other != run)
    }

    @Test(arguments: [[:], ["TMPDIR": ""]]) func withoutAWordItIsWhereTheSystemHasThem(environment: [String: String]) throws {
        let run = try RunFolder(environment: environment)
        defer { run.remove() }
        #expect(run.path.hasPrefix("/tmp/wiretape-"))
    }

    @Test func nothingOfItIsLeft() throws {
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        for name in ["a", ".hidden", "trust/b", "trust/deeper/c"] {
            let url = URL(fileURLWithPath: "\(run.path)/\(name)")
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data([1]).write(to: url)
        }
        run.remove()
        #expect(try self.folder.names() == [])
    }

    @Test func failedRemovalIsRetried() throws {
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        // Deeper than any path can name.
        let name = String(repeating: "d", count: 200)
        var descriptor = open(run.path, O_RDONLY | O_DIRECTORY)
        for _ in 0..<22 {
            #expect(mkdirat(descriptor, name, 0o700) == 0)
            let next = openat(descriptor, name, O_RDONLY | O_DIRECTORY)
            close(descriptor)
            descriptor = next
        }
        close(descriptor)
        var pauses = 0
        #expect(!run.remove(attempts: 3) { pauses += 1 } && pauses == 2)
        let isGone = run.remove(attempts: 3) {
            pauses += 1
            _ = try? ExternalProgram.run("/bin/rm", ["-rf", "\(run.path)/\(name)"])
        }
        #expect(isGone && pauses == 3)
    }

    @Test func targetOfALinkStays() throws {
        try self.folder.write([1], to: "kept/file")
        let run = try RunFolder(environment: ["TMPDIR": self.folder.path])
        try FileManager.default.createSymbolicLink(atPath: "\(run.path)/link", withDestinationPath: self.folder.file("kept"))
        run.remove()
        #expect(try self.folder.names() == ["kept"] && self.folder.names(in: "kept") == ["file"])
    }

    @Test func aPathThatIsNoFolderIsReportedWithAdvice() throws {
        let file = try self.folder.write([1], to: "file")
        let message = trustProblem { _ = try RunFolder(environment: ["TMPDIR": file]) }
        #expect(message?.contains("\"\(file)\"") == true && message?.contains("set TMPDIR") == true)
    }
}
