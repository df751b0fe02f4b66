import Testing

@testable import CassetteModel

struct MultipartReaderTests {
    @Test(arguments: MultipartFixture.texts) func piecesMakeTheSameBody(_ text: String) throws {
        let bytes = Array(text.utf8)
        let whole = try MultipartFixture.body(bytes)
        var reader = MultipartReader(boundary: try #require(MultipartBoundary("X")))
        for index in bytes.indices { bytes[index...index].withUnsafeBytes { reader.push($0) } }
        #expect(reader.finish() == whole)
    }
}
