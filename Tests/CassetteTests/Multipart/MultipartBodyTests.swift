import Testing

@testable import CassetteModel

struct MultipartBodyTests {
    @Test func aFormIsItsPartsAndNothingElse() throws {
        let bytes = Array(MultipartFixture.form.utf8)
        let body = try #require(try MultipartFixture.body(bytes)).mapData { Array(bytes[$0]) }
        #expect(body.parts.map(\.content) == [.data(Array("음식".utf8)), .data([1, 13, 10, 2])])
        #expect(body.parts.map(\.delimiter) == [MultipartBody<[UInt8]>.usualDelimiter(isFirst: true), MultipartDelimiter()])
        #expect(body.closing == MultipartBody<[UInt8]>.usualDelimiter(isFirst: false, isClosing: true))
        let again = MultipartBody(
            boundary: body.boundary,
            parts: body.parts.map { MultipartPart(delimiter: $0.delimiter, headers: $0.headers, content: $0.content) })
        #expect(again == body)
    }

    @Test(arguments: ["", "a", "a=b&c=d", "--Y\r\n\r\n--Y--"]) func withoutADelimiterThereAreNoParts(_ text: String) throws {
        #expect(try MultipartFixture.body(Array(text.utf8)) == nil)
    }

    @Test func aFormWithoutFieldsHasNoParts() throws {
        let body = try #require(try MultipartFixture.body(Array("--X--\r\n".utf8)))
        #expect(body.parts.isEmpty)
        #expect(body.closing == MultipartBody<Range<Int>>.usualDelimiter(isFirst: true, isClosing: true))
    }

    @Test func dataOfPartsWithinPartsIsMappedInOrder() throws {
        let bytes = Array(
            "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y\r\n\r\nb\r\n--Y--\r\n--X\r\n\r\nc\r\n--X--".utf8)
        var seen = ""
        _ = try #require(try MultipartFixture.body(bytes)).mapData { seen += String(decoding: bytes[$0], as: UTF8.self) }
        #expect(seen == "abc")
    }
}
