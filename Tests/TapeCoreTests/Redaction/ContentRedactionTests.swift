import Testing

@testable import TapeCore

@Suite struct ContentRedactionTests {
    @Test func partsWithinPartsAreLookedInto() {
        let text =
            "--o\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\nContent-Type: application/json\r\n\r\n{\"password\":\"hunter2x\"}\r\n--i--\r\n--o--\r\n"
        let redacted = RedactionFixtures.body(text, type: "multipart/mixed; boundary=o")
        #expect(redacted == text.replacing("hunter2x", with: "{{password:1}}"))
    }

    @Test func fileNamesAreText() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret-0123".utf8), kind: "token")
        let text = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"s3cret-0123.txt\"\r\n\r\nx\r\n--b--\r\n"
        #expect(
            RedactionFixtures.body(text, type: "multipart/form-data; boundary=b", vault: vault)
                == text.replacing("s3cret-0123", with: "{{token:1}}"))
    }

    @Test func theTypeSaysWhatAPlaceholderMayDo() {
        Array("x".utf8).withUnsafeBytes { text in
            #expect(ContentRedaction.kind(HeaderFields(["Content-Type: application/x-www-form-urlencoded"]), text) == .form)
            #expect(ContentRedaction.kind(HeaderFields(["Content-Type: image/png"]), text) == .binary)
            #expect(ContentRedaction.kind(HeaderFields(), text) == .plain)
        }
        [UInt8]([0, 1]).withUnsafeBytes { #expect(ContentRedaction.kind(HeaderFields(), $0) == .binary) }
    }
}
