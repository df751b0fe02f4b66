import Foundation
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore
@testable import TapeBytes

@Suite struct BodyReaderTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.
    private let reader: BodyReader
    private let sidecar: Sidecar
    private static let body = Array("hello, body".utf8)

    init() throws {
        let path = self.folder.file("pets.json")
        self.reader = BodyReader(cassettePath: path)
        var digest = PortableSHA256()
        Self.body.withUnsafeBytes { digest.update($0) }
        let spool = try BodyStore(cassettePath: path).makeSpool()
        try spool.write(Self.body)
        self.sidecar = try spool.finish(sha256: Hex.encode(digest.finalize()), ext: "txt")
    }

    @Test func givesTheContent() throws {
        #expect(try self.reader.read(self.sidecar, digest: PortableSHA256()) == Self.body)
    }

    @Test func changedContentIsAnError() throws {
        try self.folder.write(Array("hello, Body".utf8), to: self.sidecar.path)
        #expect(cassetteError { _ = try self.reader.read(self.sidecar, digest: PortableSHA256()) }?.code == .damaged)
        try self.folder.write(Array("hello".utf8), to: self.sidecar.path)
        #expect(cassetteError { _ = try self.reader.read(self.sidecar, digest: PortableSHA256()) }?.code == .damaged)
        try FileManager.default.removeItem(atPath: self.folder.file(self.sidecar.path))
        #expect(cassetteError { _ = try self.reader.read(self.sidecar, digest: PortableSHA256()) }?.code == .notFound)
    }

    @Test func aLargeBodyIsRefusedBeforeItIsRead() {
        #expect(cassetteError { _ = try self.reader.read(self.sidecar, digest: PortableSHA256(), limit: 5) }?.code == .tooLarge)
    }

    @Test(arguments: [
        "", "/etc/passwd", "../pets.bodies/x", "pets.bodies/../pets.json", "pets.json", "pets.bodies", "pets.bodies/", "/pets.bodies/x",
        "pets.bodies//x", "./pets.bodies/x", "pets.bodies/a/b", "..\\x.bodies/a", "pets.bodies/a\0", "x/pets.bodies/a", "a.bodies\0/x",
    ])
    func aPathThatLeadsElsewhereIsRefused(_ path: String) {
        let sidecar = Sidecar(path: path, size: 1, sha256: self.sidecar.sha256)
        #expect(cassetteError { _ = try self.reader.read(sidecar, digest: PortableSHA256()) }?.code == .unsafePath)
        #expect(cassetteError { _ = try self.reader.read(RawSlice(path: path, offset: 0, size: 1, crc32: 0)) }?.code == .unsafePath)
    }

    @Test func linksAreNotFollowed() throws {
        try self.folder.write(Self.body, to: "secret")
        try FileManager.default.createSymbolicLink(
            atPath: self.folder.file("pets.bodies/link"), withDestinationPath: self.folder.file("secret"))
        try FileManager.default.createSymbolicLink(
            atPath: self.folder.file("b.bodies"), withDestinationPath: self.folder.file("pets.bodies"))
        for path in ["pets.bodies/link", "b.bodies/\(self.sidecar.path.dropFirst(12))"] {
            let sidecar = Sidecar(path: path, size: Self.body.count, sha256: self.sidecar.sha256)
            #expect(cassetteError { _ = try self.reader.read(sidecar, digest: PortableSHA256()) }?.code == .unsafePath)
        }
    }

    @Test func slicesPastTheFileAreRefusedWithoutATrap() throws {
        try self.folder.write([1, 2, 3], to: "pets.bodies/undeveloped.raw")
        for (offset, size) in [(0, 4), (3, 1), (4, 0), (-1, 1), (0, -1), (Int.max, Int.max), (1, Int.max), (Int.min, 1)] {
            let slice = RawSlice(path: "pets.bodies/undeveloped.raw", offset: offset, size: size, crc32: 0)
            #expect(cassetteError { _ = try self.reader.read(slice) }?.code == .damaged)
        }
        let wrong = RawSlice(path: "pets.bodies/undeveloped.raw", offset: 0, size: 3, crc32: 1)
        #expect(cassetteError { _ = try self.reader.read(wrong) }?.message.contains("CRC-32") == true)
    }
}
