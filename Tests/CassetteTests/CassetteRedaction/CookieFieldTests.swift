@testable import CassetteRedaction
import Testing

@Suite struct CookieFieldTests {
    private func values(_ text: String, isSet: Bool) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            CookieField.findings(in: bytes, 0..<bytes.count, isSet: isSet).map { String(decoding: $0.secret, as: UTF8.self) }
        }
    }

    @Test func valuesAreSecretsAndNamesAreNot() {
        #expect(self.values("a=1; b=\"x=y\";c=; {{cookie:1}}; lone", isSet: false) == ["1", "x=y", "lone"])
        #expect(self.values("a=1; Path=/; Expires=Wed", isSet: true) == ["1"])
    }
}
