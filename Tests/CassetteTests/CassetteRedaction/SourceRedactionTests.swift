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
        #expect(notes == ["left out: 26 bytes are too many for rules for places in JSON"])
        #expect(try self.redacted(text, ["Content-Type: image/png"], rules, mayLoad: false).bytes == nil)
    }

    @Test func exceptionsOnlyAreNoReasonToLeaveABodyOut() throws {
        let rules = try RedactionRules(rules: [], keep: ["json:/mail"])
        let (bytes, notes) = try self.redacted(
            Array(#"{"mail":"ann"}"#.utf8), ["Content-Type: application/json"], rules, mayLoad: false)
        #expect(bytes == nil)
        #expect(notes == ["rules for places in JSON are not applied to a body of 14 bytes"])
    }
}
