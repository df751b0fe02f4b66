@testable import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct SourceRedactionTests {
    private func redacted(
        _ text: [UInt8], _ lines: [String], _ rules: RedactionRules, vault: SecretVault = SecretVault(), mayLoad: Bool = true
    ) throws -> (bytes: [UInt8]?, notes: [String]) {
        var bytes: [UInt8] = []
        let redaction = SourceRedaction(text: TextRedaction(rules: rules, vault: vault), mayLoad: mayLoad)
        let outcome = try redaction.redact(ByteSource(text), headers: HeaderFields(lines), isComplete: true) {
            bytes.append(contentsOf: $0)
        }
        return (outcome.isBodyChanged ? bytes : nil, outcome.notes)
    }

    @Test func rulesForPlacesInJSONHoldForLargeBodiesToo() throws {
        let rules = try RedactionRules(rules: ["json:/mail"])
        let text = "{\"pad\":\"" + (0..<600_000).map(String.init).joined(separator: ",") + "\",\"mail\":\"ann@example.com\"}"
        let expected = Array(text.replacing("ann@example.com", with: "{{mail:1}}").utf8)
        #expect(try self.redacted(Array(text.utf8), ["Content-Type: application/json"], rules).bytes == expected)
        let coded = try self.redacted(
            RedactionFixtures.gzip(Array(text.utf8)), ["Content-Type: application/json", "Content-Encoding: gzip"], rules)
        #expect(GzipText.gunzip(coded.bytes ?? []).utf8.elementsEqual(expected))
    }

    @Test func bodyTooLongForThePlaceRulesIsOmitted() throws {
        let rules = try RedactionRules(rules: ["json:/mail"])
        let text = Array(#"{"mail":"ann@example.com"}"#.utf8)
        let (bytes, notes) = try self.redacted(text, ["Content-Type: application/json"], rules, mayLoad: false)
        #expect(bytes == [])
        #expect(notes == ["left out: 26 bytes are too many for rules for places in such a body"])
        #expect(try self.redacted(text, ["Content-Type: image/png"], rules, mayLoad: false).bytes == nil)
    }

    @Test func exceptionsOnlyAreNoReasonToLeaveABodyOut() throws {
        let rules = try RedactionRules(rules: [], keep: ["json:/mail"])
        let (bytes, notes) = try self.redacted(
            Array(#"{"mail":"ann"}"#.utf8), ["Content-Type: application/json"], rules, mayLoad: false)
        #expect(bytes == nil)
        #expect(notes == ["rules for places in JSON, XML and forms are not applied to a body of 14 bytes"])
    }

    /// A field of each kind of body that is longer than any secret that is searched for.
    @Test(arguments: [
        ("form:blob", ["Content-Type: application/x-www-form-urlencoded"], "x=1&blob=", "&y=2"),
        ("xml:/a/blob", ["Content-Type: application/xml"], "<a><blob>", "</blob></a>"),
        ("json:/blob", ["Content-Type: application/json"], #"{"blob":""#, #""}"#),
        (
            "part:blob", ["Content-Type: multipart/form-data; boundary=b"], "--b\r\nContent-Disposition: form-data; name=blob\r\n\r\n",
            "\r\n--b--"
        ),
    ]) func rulesHoldForLongValues(rule: String, fields: [String], before: String, after: String) throws {
        let long = String(repeating: "0123456789abcdef", count: 5000)
        let (bytes, _) = try self.redacted(Array((before + long + after).utf8), fields, try RedactionRules(rules: [rule]))
        let text = String(decoding: bytes ?? [], as: UTF8.self)
        #expect(text.hasPrefix(before) && text.hasSuffix(after))
        #expect(text.contains("blob:1") || text.contains("blob%3A1"))
        #expect(!text.contains("0123"))
    }

    @Test func placesInPartsAreKnownInLargeBodiesToo() throws {
        let start = "--b\r\nContent-Disposition: form-data; name=meta\r\n\r\n"
        let end = "\r\n--b\r\nContent-Disposition: form-data; name=file\r\n\r\n" + String(repeating: "x", count: 3 << 20) + "\r\n--b--"
        let (bytes, notes) = try self.redacted(
            Array("\(start){\"id\":\"blue-monkey-7\"}\(end)".utf8), ["Content-Type: multipart/form-data; boundary=b"],
            try RedactionRules(rules: ["part:meta|json:/id"]))
        #expect(bytes == Array("\(start){\"id\":\"{{id:1}}\"}\(end)".utf8))
        #expect(notes == ["rules for places in part 2 are not applied: it has more than 1 MiB"])
    }
}
