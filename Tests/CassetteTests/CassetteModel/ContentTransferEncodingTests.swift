@testable import CassetteModel
import Testing

struct ContentTransferEncodingTests {
    private func encoding(_ value: String) -> ContentTransferEncoding {
        ContentTransferEncoding(HeaderFields(["content-transfer-encoding: \(value)"]))
    }

    private func decode(_ encoding: ContentTransferEncoding, _ text: String) -> String? {
        encoding.decode(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func namesAreRead() {
        #expect(ContentTransferEncoding(HeaderFields(["A: base64"])) == .identity)
        for name in ["7bit", "8Bit", "binary", ""] { #expect(self.encoding(name) == .identity) }
        #expect(self.encoding("BASE64") == .base64)
        #expect(self.encoding("quoted-printable") == .quotedPrintable)
        #expect(self.encoding("x-uuencode") == .other("x-uuencode"))
    }

    @Test(arguments: [("aGVsbG8=", "hello"), ("aGVs\r\nbG8", "hello"), ("aGVs!bG8=aGVs", "hello"), ("", "")])
    func base64IsDecodedAsFarAsItGoes(_ text: String, _ wanted: String) {
        #expect(self.decode(.base64, text) == wanted)
    }

    @Test(arguments: [
        ("caf=C3=A9=\r\n!", "café!"), ("a  \r\nb", "a\r\nb"), ("a \t\r\nb\t", "a\r\nb"), ("a=\nb", "ab"), ("=zz =4", "=zz =4"),
        ("a=20\r\n", "a \r\n"),
        ("x= \r\ny", "xy"), ("", ""),
    ]) func quotedPrintableIsDecoded(_ text: String, _ wanted: String) {
        #expect(self.decode(.quotedPrintable, text) == wanted)
    }

    @Test func othersAreNotDecoded() {
        #expect(self.decode(.other("x"), "a") == nil)
        #expect(self.decode(.identity, "a=20") == "a=20")
    }
}
