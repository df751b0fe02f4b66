@testable import CassetteModel
@testable import CassetteRedaction
import Testing

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

    @Test func theTypeDecidesAboutThePlaceholder() {
        Array("x".utf8).withUnsafeBytes { text in
            #expect(ContentRedaction.kind(HeaderFields(["Content-Type: application/x-www-form-urlencoded"]), text) == .form)
            // Text is text, whatever its type says.
            #expect(ContentRedaction.kind(HeaderFields(["Content-Type: image/png"]), text) == .plain)
            #expect(ContentRedaction.kind(HeaderFields(), text) == .plain)
        }
        [UInt8]([0x89, 0x50, 0]).withUnsafeBytes {
            #expect(ContentRedaction.kind(HeaderFields(["Content-Type: image/png"]), $0) == .binary)
        }
        [UInt8]([0, 1]).withUnsafeBytes { #expect(ContentRedaction.kind(HeaderFields(), $0) == .binary) }
    }

    private func known(_ text: String) -> SecretVault {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array(text.utf8), kind: "token")
        return vault
    }

    private static func part(_ fields: String, _ data: String) -> String {
        "--b\r\nContent-Disposition: form-data; \(fields)\r\n\r\n\(data)\r\n--b--\r\n"
    }

    @Test func aPartThatStaysOrIsTooLongIsSearchedForOtherSecrets() throws {
        let type = "multipart/form-data; boundary=b"
        let kept = RedactionFixtures.body(
            Self.part("name=\"password\"", "mine s3cret-0123"), type: type, rules: try RedactionRules(rules: [], keep: ["password"]),
            vault: self.known("s3cret-0123"))
        #expect(kept == Self.part("name=\"password\"", "mine {{token:1}}"))
        let long = String(repeating: "y", count: NamedValue.limit)
        let redacted = RedactionFixtures.body(
            Self.part("name=\"password\"", long + " s3cret-0123"), type: type, vault: self.known("s3cret-0123"))
        #expect(redacted == Self.part("name=\"password\"", long + " {{token:1}}"))
    }

    @Test func quotedPrintableIsReadAndWrittenAgain() {
        let fields = "name=\"f\"\r\nContent-Transfer-Encoding: quoted-printable"
        let redacted = RedactionFixtures.body(
            Self.part(fields, "a=3Db s3cr=\r\net-0123 \u{e9}=20\r\nend"), type: "multipart/form-data; boundary=b",
            vault: self.known("s3cret-0123"))
        #expect(redacted == Self.part(fields, "a=3Db {{token:1}} =C3=A9=20\r\nend"))
    }

    @Test func linesOfQuotedPrintableStayShort() {
        let fields = "name=\"f\"\r\nContent-Transfer-Encoding: quoted-printable"
        let text = String(repeating: "x", count: 60) + " s3cret-0123 " + String(repeating: "=FF", count: 40)
        let redacted = RedactionFixtures.body(
            Self.part(fields, text), type: "multipart/form-data; boundary=b", vault: self.known("s3cret-0123"))
        #expect(redacted.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 76 })
        let data = redacted.split(separator: "\r\n\r\n")[1].split(separator: "\r\n--b").first.map { Array($0.utf8) } ?? []
        let decoded = ContentTransferEncoding.quotedPrintable.decode(data) ?? []
        #expect(decoded == Array((String(repeating: "x", count: 60) + " {{token:1}} ").utf8) + Array(repeating: 255, count: 40))
    }
}

@Suite struct JSONPlacesTests {
    private func found(_ rules: [String], keep: [String] = [], _ text: String) throws -> [String] {
        let places = JSONPlaces(try RedactionRules(rules: rules, keep: keep))
        return Array(text.utf8).withUnsafeBytes { bytes in
            let found = places.findings(in: bytes)
            return found.findings.map { String(decoding: $0.secret, as: UTF8.self) } + found.kept.map { "kept \($0)" }
        }
    }

    @Test func pointersNameValues() throws {
        let text = #"{"a":{"b":["x","y\n"]},"c":"z","n":4}"#
        #expect(try self.found(["json:/a/b/1"], text) == ["y\n"])
        #expect(try self.found(["json:/a/*/0"], text) == ["x"])
        #expect(try self.found(["json:/a"], text) == ["x", "y\n"])
        #expect(try self.found(["json:/n"], text) == ["4"])
        #expect(try self.found(["json:/c=[a-z]"], text) == ["z"])
        #expect(try self.found([], keep: ["json:/a/b"], text) == ["kept 12..<13", "kept 16..<19", "kept 10..<21"])
    }

    @Test func eachLineIsLookedAt() throws {
        #expect(try self.found(["json:/a"], "{\"a\":\"1x\"}\n{\"a\":\"2x\"}\n") == ["1x", "2x"])
        #expect(try self.found(["json:/a"], "no JSON") == [])
    }

    @Test func ofACutTextTheBeginningIsLookedAt() throws {
        #expect(try self.found(["json:/a/b"], #"{"a":{"b":"x1"},"c":"#) == ["x1"])
        #expect(try self.found(["json:/a"], #"{"a":"x1","b":tru"#) == ["x1"])
    }

    @Test func dataOfEventsAreLookedAt() throws {
        #expect(try self.found(["json:/a"], "event: e\ndata: {\"a\":\"1x\"}\n\ndata:{\"a\":\"2x\"}\n\n") == ["1x", "2x"])
    }
}
