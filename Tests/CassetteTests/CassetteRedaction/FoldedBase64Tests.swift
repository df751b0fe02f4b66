import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// A secret that an earlier message had, within base64 that mail, PEM and the encoders of programs divide into lines.
@Suite struct FoldedBase64Tests {
    private static let secret = "Zq9c94Kx5cce1234"

    private func folded(_ text: String, width: Int, _ lineEnd: String) -> String {
        let base64 = String(decoding: SecretCorpus.base64(Array(text.utf8)), as: UTF8.self)
        return stride(from: 0, to: base64.utf8.count, by: width).map { String(base64.dropFirst($0).prefix(width)) }.joined(
            separator: lineEnd)
    }

    private func redacted(_ body: String, _ redactor: Redactor, type: String) -> String {
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(type)"]))
        var wire: WireBody? = WireBody(Array(body.utf8))
        _ = redactor.redact(response: &response, body: &wire)
        return String(decoding: wire?.bytes ?? [], as: UTF8.self)
    }

    @Test(arguments: [60, 64, 72, 76], ["\n", "\r\n", "\\n"]) func itIsReplacedWhereverTheLinesEnd(width: Int, lineEnd: String) throws {
        let redactor = Redactor()
        _ = self.redacted("{\"password\":\"\(Self.secret)\"}", redactor, type: "application/json")
        let isJSON = lineEnd == "\\n"
        for offset in 0..<60 {
            let text = { (secret: String) in
                String(repeating: "lorem ipsum ", count: 9).prefix(40 + offset)
                    + " \(secret) dolor sit amet, consectetur adipiscing elit, sed do"
            }
            let body = self.folded(String(text(Self.secret)), width: width, lineEnd)
            let found = self.redacted(
                isJSON ? "{\"mail\":\"\(body)\",\"a\":1}" : "Subject: a\n\n\(body)\n\nend.", redactor,
                type: isJSON ? "application/json" : "text/plain")
            let lines = isJSON ? found.dropFirst(9).prefix { $0 != "\"" } : found.dropFirst(12).dropLast(6)
            let base64 = String(lines).replacing("\\n", with: "").filter { !$0.isWhitespace }
            let content = try #require(Base64.decode(Array(base64.utf8)), "\(offset): \(found)")
            #expect(String(decoding: content, as: UTF8.self) == text("{{password:1}}"), "\(offset): \(found)")
        }
    }

    @Test func linesWithoutSecretsStay() {
        let redactor = Redactor()
        _ = self.redacted("{\"password\":\"\(Self.secret)\"}", redactor, type: "application/json")
        let body = self.folded(String(repeating: "lorem ipsum ", count: 40), width: 76, "\r\n")
        #expect(self.redacted(body, redactor, type: "text/plain") == body)
    }
}
