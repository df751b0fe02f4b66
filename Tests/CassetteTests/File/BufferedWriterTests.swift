import TapeTestSupport
import Testing
@testable import CassetteStore

@Suite struct BufferedWriterTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.

    @Test func collectsSmallWrites() throws {
        let disk = FaultyDisk()
        let file = try OpenFile(self.folder.file("file"), for: .create, disk: disk.calls)
        let source = try OpenFile(self.folder.write([7, 8, 9], to: "source"), for: .read)
        var writer = BufferedWriter()
        for index in 0..<1000 { try writer.append([UInt8(truncatingIfNeeded: index)], to: file) }
        try writer.append(1..<3, of: source, to: file)
        try writer.flush(to: file)
        try writer.flush(to: file)
        #expect(writer.offset == 1002)
        #expect(disk.with { $0.writes } == 1)
        #expect(try self.folder.read("file") == (0..<1000).map { UInt8(truncatingIfNeeded: $0) } + [8, 9])
    }

    @Test func writesLargePiecesAtOnce() throws {
        let file = try OpenFile(self.folder.file("file"), for: .create)
        var writer = BufferedWriter()
        let large = [UInt8](repeating: 5, count: 600_000)
        try writer.append(large, to: file)
        #expect(try file.size() == 600_000)
        try writer.append([6], to: file)
        try writer.flush(to: file)
        #expect(try self.folder.read("file") == large + [6])
    }
}
