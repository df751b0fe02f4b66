import CassetteModel
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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

    @Test func anImageIsOneWhateverItsTypeSays() throws {
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
