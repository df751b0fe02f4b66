import CassetteFormat
import CassetteModel
import CassetteRedaction

/// Helpers of many redaction tests.
enum RedactionFixtures {
    /// The text of a body that is redacted alone.
    static func body(
        _ text: String, type: String = "application/json", rules: RedactionRules = .standard, vault: SecretVault = SecretVault()
    ) -> String {
        String(decoding: self.bytes(Array(text.utf8), ["Content-Type: \(type)"], rules: rules, vault: vault), as: UTF8.self)
    }

    static func bytes(
        _ bytes: [UInt8], _ lines: [String], rules: RedactionRules = .standard, vault: SecretVault = SecretVault()
    ) -> [UInt8] {
        var response = RecordedResponse(status: 200, headers: HeaderFields(lines))
        var body: WireBody? = WireBody(bytes)
        _ = Redactor(rules: rules, vault: vault).redact(response: &response, body: &body)
        return body?.bytes ?? []
    }

    /// The lines of a header section that is redacted alone.
    static func lines(_ lines: [String], rules: RedactionRules = .standard, vault: SecretVault = SecretVault()) -> [String] {
        var request = RecordedRequest(method: "GET", url: "http://example.com/", headers: HeaderFields(lines))
        var body: WireBody?
        _ = Redactor(rules: rules, vault: vault).redact(request: &request, body: &body)
        return request.headers.lines
    }

    static func url(_ url: String, rules: RedactionRules = .standard, vault: SecretVault = SecretVault()) -> String {
        LiveRedactor(Redactor(rules: rules, vault: vault)).redacted(url: url) ?? url
    }

    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) } ?? []
    }
}
