import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct BodyStreamTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.

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
