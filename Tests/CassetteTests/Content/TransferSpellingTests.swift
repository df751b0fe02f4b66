import Testing

@testable import CassetteModel

struct TransferSpellingTests {
    private func find(_ text: String, _ encoding: String) -> (spelling: TransferSpelling, bytes: [UInt8])? {
        TransferSpelling.find(Array(text.utf8), HeaderFields(["Content-Transfer-Encoding: \(encoding)"]))
    }

    @Test func theFieldsSayWhichEncodingItIs() throws {
        let base64 = try #require(self.find("YWJj", "BASE64"))
        #expect(base64.spelling == .base64(Base64Spelling()) && base64.bytes == Array("abc".utf8))
        #expect(base64.spelling.write(base64.bytes) == Array("YWJj".utf8))
        let quoted = try #require(self.find("=3D", "quoted-printable"))
        #expect(quoted.spelling == .quotedPrintable(QuotedPrintableSpelling()) && quoted.bytes == [61])
        #expect(quoted.spelling.write(quoted.bytes) == Array("=3D".utf8))
        #expect(self.find("YWJj", "8bit") == nil && self.find("YWJj", "uuencode") == nil && self.find("Y", "base64") == nil)
    }
}
