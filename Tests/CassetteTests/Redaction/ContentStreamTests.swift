import Testing

@testable import CassetteModel
@testable import CassetteRedaction

@Suite struct ContentStreamTests {
    @Test func theTypeChoosesTheStream() {
        let text = TextRedaction(rules: .standard, vault: SecretVault())
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        if case .text = ContentStream(text, headers: HeaderFields(["Content-Type: multipart/mixed; boundary=b"]), beginning: none) {
            Issue.record("parts are text")
        }
        if case .parts = ContentStream(text, headers: HeaderFields(["Content-Type: text/plain"]), beginning: none) {
            Issue.record("text is parts")
        }
    }
}
