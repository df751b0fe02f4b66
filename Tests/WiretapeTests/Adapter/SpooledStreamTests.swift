import Foundation
import Testing

@testable import Wiretape

@Suite struct SpooledStreamTests {
    @Test(arguments: [0, 1, 65_536, 65_537, 300_000]) func aStreamIsReadToItsEnd(size: Int) throws {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        let spooled = try SpooledStream.read(InputStream(data: bytes))
        guard case .data(bytes) = spooled.body else {
            Issue.record("\(spooled.body.size ?? -1) bytes of \(size)")
            return
        }
        #expect(spooled.file == nil)
    }

    @Test func aLargeOneGoesIntoAFileThatGoesWithItsOwner() throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        var spooled: SpooledStream.Spooled? = try SpooledStream.read(InputStream(data: bytes), memoryLimit: 100_000)
        guard case .file(let url, let size) = spooled?.body else {
            Issue.record("it was kept in memory")
            return
        }
        #expect(size == bytes.count)
        #expect(try Data(contentsOf: url) == bytes)
        spooled = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aStreamThatIsOpenGoesOnWhereItStands() throws {
        let stream = InputStream(data: Data("abcdef".utf8))
        stream.open()
        var buffer = [UInt8](repeating: 0, count: 2)
        #expect(stream.read(&buffer, maxLength: 2) == 2)
        guard case .data(Data("cdef".utf8)) = try SpooledStream.read(stream).body else {
            Issue.record("what was read is there again, or more is gone")
            return
        }
    }

    @Test func aStreamThatCannotBeReadIsAFailure() throws {
        let stream = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
        let failure = #expect(throws: TransportFailure.self) { try SpooledStream.read(stream) }
        #expect(failure?.kind == .body)
    }
}
