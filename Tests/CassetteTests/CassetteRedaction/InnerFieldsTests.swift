import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// Lengths and checksums within a body, which clients of batches read.
@Suite struct InnerFieldsTests {
    private static let json = #"{"password":"Zq9c94Kx5cce1234","a":1}"#
    private static let redacted = #"{"password":"{{password:1}}","a":1}"#

    private func redacted(_ body: String, type: String) -> String {
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(type)"]))
        var wire: WireBody? = WireBody(Array(body.replacing("\n", with: "\r\n").utf8))
        _ = Redactor().redact(response: &response, body: &wire)
        return String(decoding: wire?.bytes ?? [], as: UTF8.self).replacing("\r\n", with: "\n")
    }

    private func md5(_ text: String) -> String {
        String(decoding: SecretCorpus.base64(BodyChecksum.md5.value(of: Array(text.utf8))), as: UTF8.self)
    }

    private func fields(_ json: String) -> String {
        "Content-Type: application/json\nContent-Length: \(json.utf8.count)\nContent-MD5: \(self.md5(json))"
    }

    @Test func aPart() {
        func body(_ json: String) -> String {
            "--b\nContent-Disposition: attachment\n\(self.fields(json))\n\n\(json)\n--b\nContent-Length: 2\n\n{}\n--b--\n"
        }
        #expect(self.redacted(body(Self.json), type: "multipart/mixed; boundary=b") == body(Self.redacted))
    }

    /// With an empty line after the content, as Google's batches have.
    @Test(arguments: ["", "\n"]) func aMessageInAPart(end: String) {
        func message(_ json: String) -> String { "HTTP/1.1 200 OK\n\(self.fields(json))\n\n\(json)\(end)" }
        func body(_ json: String) -> String {
            let size = message(json).replacing("\n", with: "\r\n").utf8.count
            return "--b\nContent-Type: application/http\nContent-Length: \(size)\n\n\(message(json))\n--b--\n"
        }
        #expect(self.redacted(body(Self.json), type: "multipart/mixed; boundary=b") == body(Self.redacted))
    }

    @Test func aMessageAlone() {
        func body(_ json: String) -> String { "POST /a HTTP/1.1\nHost: a.test\n\(self.fields(json))\n\n\(json)" }
        #expect(self.redacted(body(Self.json), type: "application/http") == body(Self.redacted))
    }

    @Test func aHeadWithoutContentStays() {
        let body = "HTTP/1.1 204 No Content\nX-Token: Zq9c94Kx5cce1234\n\n"
        #expect(self.redacted(body, type: "application/http") == "HTTP/1.1 204 No Content\nX-Token: {{token:1}}\n\n")
    }
}
