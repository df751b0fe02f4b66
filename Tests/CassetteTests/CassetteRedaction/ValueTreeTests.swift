import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// Bodies of UBJSON and Smile, as py-ubjson and Jackson write them.
@Suite struct ValueTreeTests {
    private func redacted(_ hex: String, type: String?) -> String {
        let bytes = Hex.decode(hex.utf8) ?? []
        let redacted = RedactionFixtures.bytes(bytes, type.map { ["Content-Type: \($0)"] } ?? [])
        #expect(RedactionFixtures.bytes(redacted, type.map { ["Content-Type: \($0)"] } ?? []) == redacted)
        return Hex.encode(redacted)
    }

    private func hex(_ text: String) -> String { Hex.encode(Array(text.utf8)) }

    /// `{"user":"ada","password":"h7nter2Xq","tokens":["abcdef123456x7"],"n":1,"pin":{"a":5}}`
    private static let ubjson =
        "7b550475736572535503616461550870617373776f726453550968376e7465723258715506746f6b656e735b53550e61626364656631323334353678375d55016e5501550370696e7b55016155057d7d"

    @Test(arguments: ["application/ubjson", "application/x-ubjson", nil]) func stringsOfUBJSON(type: String?) {
        let redacted = self.redacted(Self.ubjson, type: type)
        let expected = Self.ubjson.replacing("53550968376e746572325871", with: "53690e" + self.hex("{{password:1}}"))
            .replacing("53550e6162636465663132333435367837", with: "53690b" + self.hex("{{token:1}}"))
        #expect(redacted == expected)
    }

    /// Objects and arrays that declare the type or the number of their elements.
    @Test func containersOfUBJSONWithCounts() {
        // {#1 "password": S "h7nter2Xq"}, and {$S#1 "password": "h7nter2Xq"}.
        let name = "6908" + self.hex("password")
        let value = "6909" + self.hex("h7nter2Xq")
        let hidden = "690e" + self.hex("{{password:1}}")
        #expect(self.redacted("7b236901" + name + "53" + value, type: "application/ubjson") == "7b236901" + name + "53" + hidden)
        #expect(self.redacted("7b2453236901" + name + value, type: "application/ubjson") == "7b2453236901" + name + hidden)
        // [$U#9 …] under the name is a single value of bytes.
        #expect(
            self.redacted("7b" + name + "5b2455236909" + self.hex("h7nter2Xq") + "7d", type: "application/ubjson")
                == "7b" + name + "5b2455236909" + self.hex("{{passwor") + "7d")
        // A number, which keeps four bytes.
        #expect(self.redacted("7b" + name + "6c0001e240" + "7d", type: "application/ubjson") == "7b" + name + "6c00000000" + "7d")
    }

    @Test(arguments: ["7b55", "7b550870", "7b236c7fffffff", "5b2455236c7fffffff", "7b245a236c7fffffff", "53690968376e", "5b5b5b5b"])
    func brokenUBJSONIsLeftAlone(hex: String) {
        #expect(self.redacted(hex, type: "application/ubjson") == hex)
    }

    /// `{"user":"ada","password":"h7nter2Xq","again":"h7nter2Xq","note":"xx… h7nter2Xq","pin":123456,"data":<10 bytes>,
    /// "list":[{"user":"eve","password":"ada"},"ada"]}`, with names and strings that refer to earlier ones.
    private static let smile =
        "3a290a03fa8375736572426164618770617373776f72644868376e74657232587184616761696e02836e6f7465e0"
        + String(repeating: "78", count: 70)
        + "2068376e746572325871fc8270696e241e12808364617461e88a0040403020140c0704022102836c697374f8fa40426576654101fb01f9fb"

    @Test func stringsOfSmile() {
        let redacted = self.redacted(Self.smile, type: "application/x-jackson-smile")
        // "again" refers to the replaced string; the second password refers to "ada", which stays elsewhere as a name.
        let expected = Self.smile.replacing("4868376e746572325871", with: "4d" + self.hex("{{password:1}}"))
            .replacing("2068376e746572325871fc", with: "20" + self.hex("{{password:1}}") + "fc")
            .replacing("4101fb01", with: "41e0" + self.hex("{{password:2}}") + "fcfb01")
        #expect(redacted == expected)
    }

    @Test(arguments: [3, 5, 20, 60, 100]) func brokenSmileIsLeftAlone(count: Int) {
        let cut = String(Self.smile.prefix(count * 2 / 2 * 2))
        #expect(self.redacted(cut, type: "application/x-jackson-smile").count == cut.count)
    }
}
