import Testing

@testable import CassetteModel

struct MultipartDelimiterTests {
    @Test func writesItsBytes() throws {
        let boundary = try #require(MultipartBoundary("X"))
        #expect(MultipartDelimiter().bytes(boundary: boundary) == Array("\r\n--X\r\n".utf8))
        let odd = MultipartDelimiter(lineEndBefore: .none, isClosing: true, padding: [32, 9], lineEndAfter: .lineFeed)
        #expect(odd.bytes(boundary: boundary) == Array("--X-- \t\n".utf8))
    }
}
