import CassetteModel
import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ContentStreamTests {
    private func all(_ body: Body, _ headers: [String] = [], limit: Int = 1000, in folder: TemporaryFolder) throws -> Data {
        let stream = try ContentStream(body, headers: HeaderFields(headers), bodies: BodyReader(cassettePath: folder.file("a.json")))
        var bytes = Data()
        while !stream.isEnded {
            let piece = try stream.next(limit)
            #expect(piece.count <= limit && piece.startIndex == 0)
            bytes += piece
        }
        return bytes
    }

    @Test func storedContentComesInPieces() throws {
        let folder = try TemporaryFolder()
        let body = Body(size: 5, content: .text(Array("hello".utf8)))
        #expect(try self.all(body, limit: 2, in: folder) == Data("hello".utf8))
        #expect(try self.all(Body(size: 0, content: .empty), in: folder) == Data())
        // Its codings are already removed.
        let decoded = Body(size: 63, codings: [.brotli], content: .text(Array("hello".utf8)))
        #expect(try self.all(decoded, ["Content-Encoding: br"], in: folder) == Data("hello".utf8))
    }

    @Test func remainingCodingsAreDecoded() throws {
        let folder = try TemporaryFolder()
        // "hello" in zlib format, stored.
        let wire: [UInt8] = [0x78, 0x01, 0x01, 5, 0, 0xFA, 0xFF] + Array("hello".utf8) + [0x06, 0x2C, 0x02, 0x15]
        let body = Body(size: wire.count, content: .binary(wire))
        #expect(try self.all(body, ["Content-Encoding: deflate"], limit: 2, in: folder) == Data("hello".utf8))
        #expect(try self.all(body, in: folder) == Data(wire))
    }

    @Test func streamFailsAfterTheBytesThatCanBeDecoded() throws {
        let folder = try TemporaryFolder()
        let wire: [UInt8] = [0x78, 0x01, 0x00, 5, 0, 0xFA, 0xFF] + Array("hello".utf8) + [7, 7, 7]
        let body = Body(size: wire.count, content: .binary(wire))
        let stream = try ContentStream(
            body, headers: HeaderFields(["Content-Encoding: deflate"]), bodies: BodyReader(cassettePath: folder.file("a.json")))
        #expect(try stream.next(100) == Data("hello".utf8))
        #expect(!stream.isEnded)
        let failure = #expect(throws: TransportFailure.self) { try stream.next(100) }
        #expect(failure?.kind == .network(.malformed))
        #expect(stream.isEnded)
        let unknown = #expect(throws: TransportFailure.self) {
            try self.all(body, ["Content-Encoding: compress"], in: folder)
        }
        #expect(unknown?.message.contains("\"compress\"") == true)
    }
}
