import Foundation
import Testing
import Wiretape

@testable import Wiretape

@Suite struct InputStreamReaderTests {
    private func read(_ stream: InputStream, by size: Int) throws -> [UInt8] {
        let read = try InputStreamReader(stream).open()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: size)
        while case let count = try buffer.withUnsafeMutableBytes({ try read($0) }), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    @Test func allBytesComeInOrder() throws {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for size in [1, 333, 100_000] { #expect(try self.read(InputStream(data: Data(bytes)), by: size) == bytes) }
        #expect(try self.read(InputStream(data: Data()), by: 10) == [])
    }

    @Test func aFileThatIsNotThereIsAnErrorAndNoCrash() throws {
        let stream = try #require(InputStream(fileAtPath: "/no/such/file"))
        #expect { try self.read(stream, by: 10) } throws: { ($0 as? FormDataError)?.code == .unreadable }
    }

    @Test func aStreamIsReadByOneOnly() throws {
        let reader = InputStreamReader(InputStream(data: Data([1])))
        _ = try reader.open()
        #expect(throws: FormDataError.self) { try reader.open() }
        let opened = InputStream(data: Data([1]))
        opened.open()
        #expect(throws: FormDataError.self) { try InputStreamReader(opened).open() }
    }
}
