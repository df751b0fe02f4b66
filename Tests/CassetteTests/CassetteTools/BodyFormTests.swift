import CassetteModel
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct BodyFormTests {
    private func form(_ bytes: [UInt8], _ type: String?) throws -> BodyForm {
        try BodyForm(BodyContents(bytes), headers: HeaderFields(type.map { ["Content-Type: \($0)"] } ?? []))
    }

    @Test(
        arguments: [
            ("{}", "application/json", BodyForm.json), ("{}", nil, .json), (" [1]", "application/x-own", .json),
            ("1", "application/problem+json", .json),
            ("a=b", "application/x-www-form-urlencoded", .form), ("<a/>", "application/xml", .markup), ("<svg/>", "image/svg+xml", .markup),
            ("<p>", "text/html; charset=utf-8", .markup), ("<p>", nil, .markup), ("{}", "text/plain", .text), ("x", nil, .text),
            ("{}\n{}", "application/x-ndjson", .lines),
            ("text", "application/pdf", .binary), ("a\u{0}", "text/plain", .binary),
        ] as [(String, String?, BodyForm)])
    func goesByTypeAndBytes(text: String, type: String?, form: BodyForm) throws {
        #expect(try self.form(Array(text.utf8), type) == form)
    }

    @Test func anImageIsRecognizedUnderAnyType() throws {
        for type in ["image/png", "text/plain", nil] {
            guard case .image(let image) = try self.form(FormFixtures.png, type) else {
                Issue.record("no image as \(type ?? "no type")")
                continue
            }
            #expect(image.format == .png)
        }
    }

    @Test func bytesOfAFileDecideHowItIsShown() throws {
        func isText(_ bytes: [UInt8]) throws -> Bool { try BodyForm.isText(BodyContents(bytes)) }
        #expect(try isText(Array("이름\r\n\t".utf8)))
        #expect(try !isText(Array("a\u{1B}".utf8)))
        #expect(try !isText(Array("a\u{7F}".utf8)))
        #expect(try !isText([0x61, 0xEC, 0x9D]))
        #expect(try !isText([0x89, 0x50]))
    }
}

@Suite struct DecodedTextTests {
    private func text(_ bytes: [UInt8], _ type: String) throws -> String? {
        let decoded = try DecodedText.read(BodyContents(bytes), headers: HeaderFields(["Content-Type: \(type)"]))
        return try decoded?.load(limit: 100).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        arguments: [
            ([0xC0, 0xCC, 0xB8, 0xA7], "text/plain; charset=EUC-KR", "이름"),
            ([0x63, 0x61, 0x66, 0xE9], "text/plain; charset=\"iso-8859-1\"", "café"),
            ([0xFF, 0xFE, 0x41, 0x00], "text/plain", "A"), ([0x93, 0xFA], "text/plain; charset=shift_jis", "日"),
        ] as [([UInt8], String, String)])
    func textOfItsCharsetIsDecoded(bytes: [UInt8], type: String, text: String) throws {
        #expect(try self.text(bytes, type) == text)
    }

    @Test func bytesThatAreNoTextInTheirCharsetAreNil() throws {
        #expect(try self.text([0x89, 0x50], "text/plain") == nil)
        #expect(try self.text([0xFF], "text/plain; charset=euc-kr") == nil)
        #expect(try self.text([0x00, 0x01], "text/plain; charset=iso-8859-1") == nil)
        #expect(try self.text([0xE9], "text/plain; charset=nonsense") == nil)
    }
}

@Suite struct FormFieldsTests {
    @Test(arguments: [
        ("a=1&b=2", ["a", "1", "b", "2"]), ("a+b=%EC%9D%B4", ["a b", "이"]), ("a", ["a", ""]), ("=x&&a==", ["", "x", "a", "="]), ("", []),
        ("%zz=%4", ["%zz", "%4"]), ("a=%+1", ["a", "% 1"]),
    ])
    func fieldsAreDecoded(text: String, fields: [String]) {
        let decoded = FormFields.decode(Array(text.utf8)).flatMap { [$0.name, $0.value] }
        #expect(decoded.map { String(decoding: $0, as: UTF8.self) } == fields)
    }
}
