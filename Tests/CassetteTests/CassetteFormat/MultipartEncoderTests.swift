@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct MultipartEncoderTests {
    private func written(_ body: MultipartBody<PartContent>, named: String? = "X") -> String {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        MultipartEncoder.encode(body, named: named.flatMap { MultipartBoundary($0) }, into: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func body(_ text: String) throws -> MultipartBody<PartContent> {
        let bytes = Array(text.utf8)
        return try #require(try MultipartFixture.body(bytes)).mapData { .text(Array(bytes[$0])) }
    }

    @Test func usualBodiesAreAnArray() throws {
        #expect(
            self.written(try self.body("--X\r\nContent-Disposition: form-data; name=\"food\"\r\n\r\n음식\r\n--X--\r\n"))
                == "{\n  \"multipart\": [\n    { \"name\": \"food\", \"headers\": [\"Content-Disposition: form-data; name=\\\"food\\\"\"], \"text\": \"음식\" }\n  ]\n}"
        )
        #expect(self.written(try self.body("--X--\r\n")) == "{\n  \"multipart\": []\n}")
    }

    @Test func aTransferEncodingIsNextToItsContent() throws {
        var body = try self.body("--X\r\n\r\na\r\n--X--\r\n")
        body.parts[0].content = .data(.transferEncoded(.json(Array("[1]".utf8), style: .spaced), .base64(Base64Spelling(line: 4))))
        #expect(
            self.written(body).contains("\"transfer\": { \"base64\": { \"line\": 4 } },\n      \"style\": \"spaced\",\n      \"json\": [1]")
        )
    }

    @Test func namesAreShownInTheFormsCharset() throws {
        let field = "--X\r\nContent-Disposition: form-data; name=\""
        var body = try self.body("\(field)_charset_\"\r\n\r\neuc-kr\r\n\(field)a\"\r\n\r\n1\r\n--X--\r\n")
        body.parts[1].headers = PartHeaderSection(lines: [Array("Content-Disposition: form-data; name=".utf8) + [0xC0, 0xBD]])
        #expect(self.written(body).contains("\"name\": \"음\""))
        body.parts[0].content = .data(.binary([0]))
        #expect(self.written(body).contains("\"name\": \"À½\""))
    }

    @Test func onlyWhatDiffersIsNamed() throws {
        let odd = self.written(try self.body("pre\r\n--X \n\r\na\r\n--X--epi"))
        #expect(odd.contains("\"preamble\": \"pre\"") && odd.contains("\"delimiter\": { \"padding\": \" \", \"after\": \"\\n\" }"))
        #expect(!odd.contains("\"boundary\"") && !odd.contains("\"epilogue\"") || odd.contains("\"closing\""))
        let cut = self.written(try self.body("--X\r\n\r\na"))
        #expect(cut.contains("\"closing\": null") && cut.contains("\"headers\": []"))
        #expect(self.written(try self.body("--X\r\n\r\na\r\n--X--")).contains("\"closing\": { \"after\": \"\" }"))
        #expect(self.written(try self.body("--X\r\nA: b\n\r\na\r\n--X--\r\n")).contains("\"head\": \"A: b\\n\\r\\n\""))
    }

    @Test func theBoundaryIsNamedWhereNoContentTypeDoes() throws {
        #expect(self.written(try self.body("--X--\r\n"), named: nil).contains("\"boundary\": \"X\""))
        #expect(self.written(try self.body("--X--\r\n"), named: "Y").contains("\"boundary\": \"X\""))
    }
}
