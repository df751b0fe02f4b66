import CassetteModel
import CassetteStore
import NIOCore
import NIOPosix
import TapeTestSupport
import Testing
@testable import TapeProxy
@testable import TapeRecorder

@Suite struct ReplayFileStreamTests {
    /// Reads a sidecar of these bytes to its end, after a change to the file; nil if it proved to be damaged.
    private func read(
        _ bytes: [UInt8], as content: (Sidecar) throws -> ReplayFileStream.Content = { .sidecar($0) },
        damage: (inout [UInt8]) -> Void = { _ in }
    ) throws -> [UInt8]? {
        let folder = try TemporaryFolder()
        var sink = BodyStoreSink(store: try BodyStore(cassettePath: folder.file("tape.json")), digest: { FastSHA256() })
        let sidecar = try sink.store(fileExtension: "bin") { piece in try bytes.withUnsafeBytes { try piece($0) } }
        var changed = bytes
        damage(&changed)
        try folder.write(changed, to: sidecar.path)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let disk = WorkPool(threads: 1)
        defer {
            try? group.syncShutdownGracefully()
            disk.stop()
        }
        let loop = group.next()
        let promise = loop.makePromise(of: [UInt8]?.self)
        let reader = BodyReader(cassettePath: folder.file("tape.json"))
        let read = try content(sidecar)
        loop.execute {
            let stream = ReplayFileStream(read, bodies: reader, loop: loop, disk: disk)
            var all: [UInt8] = []
            func more() {
                stream.next { piece in
                    switch piece {
                    case .bytes(let bytes):
                        all += bytes
                        more()
                    case .last(let bytes): promise.succeed(all + bytes)
                    case .damaged: promise.succeed(nil)
                    }
                }
            }
            more()
        }
        return try promise.futureResult.wait()
    }

    private let bytes = (0..<(ReplayFileStream.pieceSize * 2 + 5)).map { UInt8(truncatingIfNeeded: $0 >> 3) }

    @Test func allPiecesAreTheFile() throws {
        #expect(try self.read(self.bytes) == self.bytes)
        #expect(try self.read([1]) == [1])
        #expect(
            try self.read(Array(self.bytes.prefix(ReplayFileStream.pieceSize))) == Array(self.bytes.prefix(ReplayFileStream.pieceSize)))
    }

    @Test func aChangedByteAMissingEndAndALongerEndAreDamage() throws {
        #expect(try self.read(self.bytes, damage: { $0[3] ^= 1 }) == nil)
        #expect(try self.read(self.bytes, damage: { $0.removeLast() }) == nil)
        #expect(try self.read(self.bytes, damage: { $0.append(0) }) == nil)
    }

    /// A part in a file, between the lines around it.
    private func parts(_ sidecar: Sidecar) throws -> ReplayFileStream.Content {
        let boundary = try #require(MultipartBoundary("X"))
        let part = MultipartPart<PartContent>(
            delimiter: MultipartBody<PartContent>.usualDelimiter(isFirst: true), headers: PartHeaderSection(lines: []),
            content: .data(.file(sidecar)))
        let body = MultipartBody<PartContent>(boundary: boundary, parts: [part])
        return .parts(Body(size: body.size, content: .multipart(body)))
    }

    @Test func partsAreReadFromTheirFiles() throws {
        let expected = Array("--X\r\n\r\n".utf8) + self.bytes + Array("\r\n--X--\r\n".utf8)
        #expect(try self.read(self.bytes, as: self.parts) == expected)
    }

    @Test func aDamagedPartIsNeverSent() throws {
        #expect(try self.read(self.bytes, as: self.parts) { $0[5] ^= 1 } == nil)
    }
}
