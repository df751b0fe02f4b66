import CassetteModel
import Testing

@testable import CassetteRedaction

/// Values of objects and lists under a secret's name, in JSON with comments and in XML with entities.
@Suite struct InnerNamesTests {
    @Test(arguments: [
        #"{"token":{"type":"Bearer","content":"h7nter2Xq"}}"#, #"{"clientSecret":{"secretText":"h7nter2Xq"}}"#,
        #"{"otp":{"value":"h7nter2Xq"}}"#, #"{"secretKeys":["h7nter2Xq"]}"#, #"{"recoveryCodes":["h7nter2Xq","b"]}"#,
        #"{"passwordHistory":["h7nter2Xq"]}"#, #"{"backupCodes":[{"code":1,"value":"h7nter2Xq"}]}"#, #"{"oldPasswords":["h7nter2Xq"]}"#,
        #"{"password":{"v":"h7nter2Xq"}}"#, #"{"password" /* c */ : "h7nter2Xq"}"#, #"{"password": /* c */ "h7nter2Xq"}"#,
        "{\"password\" // why\n : \"h7nter2Xq\"}", "{\"password\": // why\n \"h7nter2Xq\"}", #"{"password"/*a*//*b*/:"h7nter2Xq"}"#,
        #"{"headers":{"X-Foo-Token":"h7nter2Xq"}}"#, #"[{"name":"X-Foo-Token","value":"h7nter2Xq"}]"#, #"{"My-Api-Key":"h7nter2Xq"}"#,
    ])
    func valuesInJSON(text: String) { HiddenPlace.check(text, type: "application/json") }

    @Test func codesOfDigits() {
        #expect(RedactionFixtures.body(#"{"otp":{"value":"287082"}}"#) == #"{"otp":{"value":"{{code:1}}"}}"#)
        #expect(RedactionFixtures.body(#"{"mfaCode":{"code":"287082"}}"#) == #"{"mfaCode":{"code":"{{code:1}}"}}"#)
    }

    @Test(arguments: [
        #"{"otp":{"length":"6","type":"numeric"}}"#, #"{"token":{"type":"string","content":"abc123def"}}"#, #"{"recoveryCodes":10}"#,
        #"{"passwordHistory":{"length":5,"enabled":true}}"#, #"{"passwordHistory":[{"changedBy":"admin","changedAt":"2024-01-02"}]}"#,
        #"{"password" / 2 : "x1y2z3"}"#, #"{"otp":{"message":"Enter 123456"}}"#, #"[{"name":"next-token","value":"h7nter2Xq"}]"#,
        #"{"X-Next-Page-Token":"h7nter2Xq"}"#, #"{"secretKeys":2}"#,
    ])
    func otherValuesStay(text: String) { HiddenPlace.stays(text, type: "application/json") }

    @Test func entitiesOfXML() {
        let text =
            #"<!DOCTYPE a [<!ENTITY x "y"><!ENTITY pw "h7nter2Xq">]><a><password>&pw;</password><b>&x;</b><token t="1">&pw;</token></a>"#
        let redacted = RedactionFixtures.body(text, type: "application/xml")
        #expect(redacted == text.replacing("h7nter2Xq", with: "{{password:1}}"))
        #expect(RedactionFixtures.body(redacted, type: "application/xml") == redacted)
    }

    @Test func nestedElementsOfXML() {
        let text = #"<a xmlns:o="u"><o:Password o:t="x"><o:v>h7nter2Xq</o:v></o:Password></a>"#
        #expect(RedactionFixtures.body(text, type: "application/xml") == text.replacing("h7nter2Xq", with: "{{password:1}}"))
    }

    // MARK: Trees

    private func message(_ bytes: [UInt8], type: String = "application/msgpack") -> String {
        String(decoding: RedactionFixtures.bytes(bytes, ["Content-Type: \(type)"]), as: UTF8.self)
    }

    private static let secret = Array("h7nter2Xq".utf8)

    @Test func namesThatAreBytes() {
        let name = Array("password".utf8)
        #expect(self.message([0x81, 0xC4, 8] + name + [0xC4, 9] + Self.secret).hasSuffix("{{password:1}}"))
        #expect(self.message([0x81, 0xC4, 8] + name + [0xA9] + Self.secret).hasSuffix("{{password:1}}"))
        #expect(self.message([0xA1, 0x48] + name + [0x69] + Self.secret, type: "application/cbor").hasSuffix("{{password:1}}"))
        #expect(self.message([0xA1, 0x48] + name + [0x49] + Self.secret, type: "application/cbor").hasSuffix("{{password:1}}"))
    }

    @Test func pairsInArrays() {
        let name = Array("password".utf8)
        #expect(self.message([0x92, 0xA8] + name + [0xA9] + Self.secret).hasSuffix("{{password:1}}"))
        #expect(self.message([0x91, 0x92, 0xA8] + name + [0xA9] + Self.secret).hasSuffix("{{password:1}}"))
        #expect(self.message([0x82, 0x68] + name + [0x69] + Self.secret, type: "application/cbor").hasSuffix("{{password:1}}"))
        // A list of names.
        let names = [0x92, 0xA8] + name + [0xA5] + Array("token".utf8)
        #expect(RedactionFixtures.bytes(names, ["Content-Type: application/msgpack"]) == names)
    }

    @Test func extensionsOfMessagePack() {
        let inner = [0x81, 0xA8] + Array("password".utf8) + [0xA9] + Self.secret
        let redacted = RedactionFixtures.bytes(
            [0x81, 0xA1, 0x64, 0xC7, UInt8(inner.count), 5] + inner, ["Content-Type: application/msgpack"])
        let placeholder = Array("{{password:1}}".utf8)
        let expected = [0x81, 0xA8] + Array("password".utf8) + [0xA0 | UInt8(placeholder.count)] + placeholder
        #expect(redacted == [0x81, 0xA1, 0x64, 0xC7, UInt8(expected.count), 5] + expected)
        // A time.
        let time: [UInt8] = [0x81, 0xA1, 0x64, 0xD7, 0xFF, 0x81, 0xA5, 0x74, 0x6F, 0x6B, 0x65, 0x6E, 0x78]
        #expect(RedactionFixtures.bytes(time, ["Content-Type: application/msgpack"]) == time)
    }

    @Test(arguments: [(255, [0xC7, 255]), (256, [0xC8, 1, 0])] as [(Int, [UInt8])])
    func lengthOfAnExtensionIsWritten(count: Int, head: [UInt8]) {
        let placeholder = Array("{{password:1}}".utf8)
        // The map, two names, and the heads of the values.
        let filler = [UInt8](repeating: 0x61, count: count - 1 - 9 - 1 - placeholder.count - 2 - 2)
        func map(_ value: [UInt8]) -> [UInt8] {
            [0x82, 0xA8] + Array("password".utf8) + [0xA0 | UInt8(value.count)] + value + [0xA1, 0x78, 0xD9, UInt8(filler.count)] + filler
        }
        let old = map(Self.secret)
        let redacted = RedactionFixtures.bytes([0x91, 0xC8, 0, UInt8(old.count), 7] + old, ["Content-Type: application/msgpack"])
        #expect(map(placeholder).count == count)
        #expect(redacted == [0x91] + head + [7] + map(placeholder))
    }
}
