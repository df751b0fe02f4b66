import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
import Foundation
@testable import TapeBytes
import TapeTestSupport
import Testing

/// Cassettes behind symbolic links, as build systems and package managers lay out files.
@Suite struct LinkedCassetteTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private static let body = Array("hello, body".utf8)

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: self.folder.file(name), withDestinationPath: target)
    }

    /// A body next to `real/pets.json`.
    private func makeBody(_ bytes: [UInt8] = Self.body) throws -> Sidecar {
        try FileManager.default.createDirectory(atPath: self.folder.file("real"), withIntermediateDirectories: true)
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        let spool = try BodyStore(cassettePath: self.folder.file("real/pets.json")).makeSpool()
        try spool.write(bytes)
        return try spool.finish(sha256: Hex.encode(digest.finalize()), ext: "txt")
    }

    @Test func linksAreFollowedFromOneToTheNext() throws {
        try self.link("a", to: "b")
        try self.link("b", to: self.folder.file("c/d"))
        #expect(CassettePlace.followed(self.folder.file("a")) == self.folder.file("c/d"), "which need not exist")
        try self.link("x", to: "y")
        try self.link("y", to: "x")
        #expect(CassettePlace.followed(self.folder.file("x")) == self.folder.file("x"))
        #expect(CassettePlace.followed("plain.json") == "plain.json")
    }

    @Test func bodiesAreNextToTheTargetOfALink() throws {
        let sidecar = try self.makeBody()
        try FileManager.default.createDirectory(atPath: self.folder.file("runfiles"), withIntermediateDirectories: false)
        try self.link("runfiles/other.json", to: "../real/pets.json")
        try self.link("far.json", to: "runfiles/other.json")
        for name in ["runfiles/other.json", "far.json"] {
            let reader = BodyReader(cassettePath: self.folder.file(name))
            #expect(try reader.read(sidecar, digest: PortableSHA256()) == Self.body, "\(name)")
            #expect(try BodyStore(cassettePath: self.folder.file(name)).name == "pets.bodies")
        }
    }

    @Test func aLinkToABodyOfTheSameFolderIsFollowed() throws {
        let sidecar = try self.makeBody()
        let name = sidecar.path.dropFirst("pets.bodies/".count)
        try FileManager.default.moveItem(
            atPath: self.folder.file("real/\(sidecar.path)"), toPath: self.folder.file("real/pets.bodies/stored"))
        let reader = BodyReader(cassettePath: self.folder.file("real/pets.json"))
        for target in ["stored", "../pets.bodies/stored", self.folder.file("real/pets.bodies/stored")] {
            try self.link("real/pets.bodies/\(name)", to: target)
            #expect(try reader.read(sidecar, digest: PortableSHA256()) == Self.body, "\(target)")
            try FileManager.default.removeItem(atPath: self.folder.file("real/\(sidecar.path)"))
        }
    }

    @Test(arguments: ["../../outside", "nowhere", "/etc/passwd", "../pets.json", "."])
    func aLinkOutOfTheFolderIsRefusedWithAdvice(_ target: String) throws {
        let sidecar = try self.makeBody()
        try self.folder.write(Self.body, to: "outside")
        try FileManager.default.removeItem(atPath: self.folder.file("real/\(sidecar.path)"))
        try self.link("real/\(sidecar.path)", to: target)
        let reader = BodyReader(cassettePath: self.folder.file("real/pets.json"))
        let error = try #require(cassetteError { _ = try reader.read(sidecar, digest: PortableSHA256()) })
        #expect(error.code == .unsafePath && error.message.contains("replace it with a copy of the file"), "\(error.message)")
    }

    @Test func aFolderThatIsALinkIsRefusedWithAdvice() throws {
        let sidecar = try self.makeBody()
        try self.link("pets.bodies", to: "real/pets.bodies")
        let error = cassetteError {
            _ = try BodyReader(cassettePath: self.folder.file("pets.json")).read(sidecar, digest: PortableSHA256())
        }
        #expect(error?.code == .unsafePath && error?.message.contains("make the cassette a link") == true, "\(String(describing: error))")
    }

    @Test func aNewBodyTakesThePlaceOfALinkThatLeadsOut() throws {
        let sidecar = try self.makeBody()
        try self.folder.write([1], to: "outside")
        try FileManager.default.removeItem(atPath: self.folder.file("real/\(sidecar.path)"))
        try self.link("real/\(sidecar.path)", to: "../../outside")
        #expect(try self.makeBody() == sidecar)
        #expect(try self.folder.read("real/\(sidecar.path)") == Self.body)
        #expect(try self.folder.read("outside") == [1])
    }

    @Test func targetOfALinkedBodyIsNotRemoved() throws {
        let (sidecar, other, unused) = (try self.makeBody(), try self.makeBody([1, 2, 3]), try self.makeBody([4]))
        try FileManager.default.removeItem(atPath: self.folder.file("real/\(sidecar.path)"))
        try self.link("real/\(sidecar.path)", to: String(other.path.dropFirst("pets.bodies/".count)))
        let removed = try BodyStore(cassettePath: self.folder.file("real/pets.json")).removeSidecars(keeping: [sidecar.path])
        #expect(removed == 1)
        #expect(self.folder.exists("real/\(other.path)") && !self.folder.exists("real/\(unused.path)"))
    }

    @Test func aRecordingThatDidNotReplaceTheCassetteIsReported() throws {
        try FileManager.default.createDirectory(atPath: self.folder.file("real"), withIntermediateDirectories: false)
        let path = self.folder.file("real/pets.json")
        try RecordedExchanges.write([.sample(1)], to: path)
        try self.link("link.json", to: "real/pets.json")
        #expect(CassettePlace.leftRecordings(beside: path).isEmpty)
        let new = self.folder.file("real/pets.new.json")
        try RecordedExchanges.write([.sample(1), .sample(2)], to: new)
        for (name, seconds) in [(new, 2_000_000_000.0), (path, 1_000_000_000)] {
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: seconds)], ofItemAtPath: name)
        }
        for name in [path, self.folder.file("link.json")] {
            let left = CassettePlace.leftRecordings(beside: name)
            #expect(left.map { $0.path } == [new] && left[0].notice.contains("wiretape diff"), "\(left)")
        }
        // A recording that is still being written is not reported.
        do {
            let appender = try CassetteAppender.open(new, recorder: "1")
            #expect(CassettePlace.leftRecordings(beside: path).isEmpty)
            withExtendedLifetime(appender) {}
        }
        #expect(CassettePlace.leftRecordings(beside: path).count == 1)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 500_000_000)], ofItemAtPath: new)
        #expect(CassettePlace.leftRecordings(beside: path).isEmpty, "the cassette is newer")
    }
}
