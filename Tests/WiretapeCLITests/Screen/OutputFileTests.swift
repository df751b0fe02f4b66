import Testing

@testable import WiretapeCLI

@Suite struct OutputFileTests {
    @Test func moreThanABlockIsWrittenInOrderOverWhatWasThere() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(repeating: 1, count: 2_000_000), to: "out")
        let file = try OutputFile(path: folder.file("out"))
        let pieces = (0..<100).map { [UInt8](repeating: UInt8($0), count: 7001) }
        for piece in pieces { try piece.withUnsafeBytes { try file.write($0) } }
        try file.finish()
        #expect(try folder.read("out") == Array(pieces.joined()))
    }
}
