import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
import Foundation
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct BodyReaderTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
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

@Suite struct BodyReaderBytesTests {
    /// A folder with a sidecar of these bytes, named by their digest.
    private func stored(_ bytes: [UInt8]) throws -> (folder: TemporaryFolder, sidecar: Sidecar, reader: BodyReader) {
        let folder = try TemporaryFolder()
        let path = folder.file("a.json")
        let store = try BodyStore(cassettePath: path)
        let spool = try store.makeSpool()
        try spool.write(bytes)
        var digest = PortableSHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        let name = digest.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return (folder, try spool.finish(sha256: name, ext: "bin"), BodyReader(cassettePath: path))
    }

    @Test func aSourceGivesTheBytesAtAnyOffsetAgainAndAgain() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let (folder, sidecar, reader) = try self.stored(bytes)
        let source = try reader.source(sidecar, digest: PortableSHA256())
        #expect(source.size == bytes.count)
        for _ in 0..<2 {
            var read: [UInt8] = []
            try source.forEachPiece { read.append(contentsOf: $0) }
            #expect(read == bytes)
        }
        withExtendedLifetime(folder) {}
    }

    #if os(Linux)
    @Test func aSourceHoldsItsFileOpenOnlyWhileItIsRead() throws {
        let (folder, sidecar, reader) = try self.stored([1, 2, 3])
        var sources: [ByteSource] = []
        for _ in 0..<3 { sources.append(try reader.source(sidecar, digest: PortableSHA256())) }
        #expect(try self.openFiles(in: folder) == 0)
        for source in sources {
            var whileRead: [Int] = []
            try source.forEachPiece { _ in whileRead.append(try self.openFiles(in: folder)) }
            #expect(whileRead == [1])
            #expect(try source.load() == [1, 2, 3])
        }
        #expect(try self.openFiles(in: folder) == 0)
    }

    /// The number of regular files below the folder that this process has open.
    private func openFiles(in folder: TemporaryFolder) throws -> Int {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // Concurrent tests close their files in the meantime.
        let paths = descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        return paths.count { $0.hasPrefix(folder.path) && $0.hasSuffix(".bin") }
    }
    #endif

    @Test func aSourceOfDamagedBytesIsRefused() throws {
        let (folder, sidecar, reader) = try self.stored([UInt8](repeating: 1, count: 100_000))
        var bytes = try folder.read(sidecar.path)
        bytes[99_999] = 2
        try folder.write(bytes, to: sidecar.path)
        #expect(throws: CassetteError.self) { try reader.source(sidecar, digest: PortableSHA256()) }
    }

    @Test func wireBytesOfInlineAndFiledBodiesComeBack() throws {
        let (folder, sidecar, reader) = try self.stored([1, 2, 3])
        let file = Body(size: 3, content: .file(sidecar))
        #expect(try reader.wireBytes(of: file, digest: { PortableSHA256() }).bytes == [1, 2, 3])
        let text = Body(size: 2, content: .text(Array("hi".utf8)))
        #expect(try reader.wireBytes(of: text, digest: { PortableSHA256() }).bytes == Array("hi".utf8))
        let missing = Body(size: 3, content: .file(Sidecar(path: "a.bodies/none", size: 3, sha256: sidecar.sha256)))
        #expect(throws: CassetteError.self) { try reader.wireBytes(of: missing, digest: { PortableSHA256() }) }
        withExtendedLifetime(folder) {}
    }
}

@Suite struct BodyStreamTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func stream(_ bytes: [UInt8], crc32: UInt32) throws -> BodyStream {
        let path = try self.folder.write(bytes, to: "body")
        return BodyStream(file: try OpenFile(path, for: .read), range: 0..<bytes.count, check: .crc32(0, expected: crc32))
    }

    @Test func givesPiecesUpToTheEnd() throws {
        let stream = try self.stream(Array("123456789".utf8), crc32: 0xcbf4_3926)
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try stream.read(into: $0) }
            if count == 0 { break }
            all += buffer[..<count]
        }
        #expect(all == Array("123456789".utf8))
        #expect(stream.remaining == 0)
    }

    @Test func theLastPieceOfAWrongBodyIsNeverGiven() throws {
        let stream = try self.stream(Array("123456780".utf8), crc32: 0xcbf4_3926)
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try buffer.withUnsafeMutableBytes { try stream.read(into: $0) } == 4)
        #expect(try buffer.withUnsafeMutableBytes { try stream.read(into: $0) } == 4)
        for _ in 0..<2 {
            #expect(cassetteError { _ = try buffer.withUnsafeMutableBytes { try stream.read(into: $0) } }?.code == .damaged)
        }
    }

    @Test func anEmptyBodyIsCheckedToo() throws {
        let stream = try self.stream([], crc32: 5)
        #expect(cassetteError { _ = try stream.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) }?.code == .damaged)
    }
}
