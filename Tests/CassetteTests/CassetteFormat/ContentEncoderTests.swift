@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct ContentEncoderTests {
    private func written(_ content: BodyContent) -> String {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        ContentEncoder.encode(content, headers: HeaderFields(), into: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func aFormIsPairs() {
        let form = FormText(
            fields: [.init(name: "pet", value: "고양이"), .init(name: "flag", value: nil)],
            spelling: FormSpelling(escapesSpace: true, plain: [47]))
        #expect(
            self.written(.form(form))
                == "{\n  \"spelling\": { \"space\": \"%20\", \"plain\": \"/\" },\n  \"form\": [\n    [\"pet\", \"고양이\"],\n    [\"flag\"]\n  ]\n}"
        )
    }

    @Test func textOfAnotherCharsetIsShownDecoded() {
        #expect(self.written(.encodedText([0xC0, 0xBD], .eucKR)) == "{\n  \"charset\": \"EUC-KR\",\n  \"text\": \"음\"\n}")
        #expect(self.written(.encodedText([0xC0], .eucKR)) == "{\n  \"base64\": \"wA==\"\n}")
    }

    @Test func linesAreValues() throws {
        let lines = try #require(JSONLines(Array("{\"a\": 1}\r\n[]".utf8)))
        #expect(
            self.written(.lines(lines))
                == "{\n  \"style\": { \"colon\": \" \" },\n  \"lines\": [\n    { \"a\": 1 },\n    []\n  ],\n  \"lineEnd\": \"\\r\\n\",\n  \"ended\": false\n}"
        )
    }

    @Test func bytesThatAreNoTextAreWrittenInBase64() {
        #expect(self.written(.text([0xFF])) == "{\n  \"base64\": \"/w==\"\n}")
        #expect(self.written(.empty) == "{}")
    }
}
