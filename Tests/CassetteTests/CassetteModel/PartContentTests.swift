import CassetteModel
import TapeBytes
import Testing

@Suite struct PartContentTests {
    @Test func aPartCanHaveAnyContentExceptThatOfWholeBodies() throws {
        let form = FormText(fields: [FormText.Field(name: "a", value: nil)])
        let lines = try #require(JSONLines(Array("{}\n".utf8)))
        let events = try #require(EventStream(Array("data: a\n\n".utf8)))
        let contents: [BodyContent] = [
            .text([65]), .encodedText([65], .latin1), .json([0x7B, 0x7D], style: .compact), .form(form), .lines(lines), .events(events),
            .binary([0]), .file(Sidecar(path: "a", size: 1, sha256: "")),
        ]
        for content in contents { #expect(PartContent(content)?.bodyContent == content) }
        #expect(PartContent(.empty) == nil)
        #expect(PartContent(.raw(RawSlice(path: "a", offset: 0, size: 1, crc32: 0))) == nil)
    }

    @Test func aTransferEncodingIsRemovedForPeople() {
        let content = PartContent.transferEncoded(.json(Array("[1]".utf8), style: .compact), .base64(Base64Spelling(isEnded: true)))
        #expect(content.bodyContent == .text(Array("WzFd\r\n".utf8)) && content.size == 6)
        #expect(content.readable == .json(Array("[1]".utf8), style: .compact))
        #expect(PartContent.transferEncoded(content, .base64(Base64Spelling())).readable == content.readable)
        #expect(PartContent.binary([1]).readable == .binary([1]))
    }

    @Test func partsNameTheirFilesOnAllLevels() throws {
        let boundary = try #require(MultipartBoundary("X"))
        let sidecars = ["a", "b"].map { Sidecar(path: $0, size: 1, sha256: "") }
        let head = PartHeaderSection(lines: [])
        let inner = MultipartBody<PartContent>(
            boundary: boundary, parts: [MultipartPart(headers: head, content: .data(.file(sidecars[1])))])
        let outer = MultipartBody<PartContent>(
            boundary: boundary,
            parts: [
                MultipartPart(headers: head, content: .data(.file(sidecars[0]))), MultipartPart(headers: head, content: .multipart(inner)),
                MultipartPart(headers: head, content: .data(.text([]))),
            ])
        #expect(outer.sidecars == sidecars)
    }
}
