import CassetteModel
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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

    @Test func whatIsNoSuchTextIsLeftAlone() throws {
        #expect(try self.text([0x89, 0x50], "text/plain") == nil)
        #expect(try self.text([0xFF], "text/plain; charset=euc-kr") == nil)
        #expect(try self.text([0x00, 0x01], "text/plain; charset=iso-8859-1") == nil)
        #expect(try self.text([0xE9], "text/plain; charset=nonsense") == nil)
    }
}
