import CassetteFormat
import CassetteModel
import CassetteStore
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct BodyReaderBytesTests {
    /// A folder with a sidecar of these bytes under their digest.
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

    /// Regular files below the folder, of all that this process has open.
    private func openFiles(in folder: TemporaryFolder) throws -> Int {
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // Other tests close theirs meanwhile.
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
