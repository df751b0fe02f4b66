@testable import CassetteModel
@testable import CassetteRedaction
import TapeBytes
import Testing

@Suite struct LiveRedactorTests {
    @Test func resultIsNilWithoutSecrets() {
        let live = LiveRedactor(Redactor())
        #expect(live.redacted(url: "https://e.com/?a=b") == nil)
        #expect(live.redacted(headers: HeaderFields(["A: b"])) == nil)
        #expect(live.redacted(body: Array("{}".utf8), headers: HeaderFields()) == nil)
    }

    @Test func secretsBecomePlaceholders() throws {
        let live = LiveRedactor(Redactor())
        #expect(live.redacted(url: "https://e.com/?token=a1") == "https://e.com/?token={{token:1}}")
        #expect(live.redacted(headers: HeaderFields(["Cookie: a=b1"]))?.lines == ["Cookie: a={{cookie:1}}"])
        let source = ByteSource(Array("{\"token\":\"a1\"}".utf8))
        var bytes: [UInt8] = []
        _ = try live.redact(source, headers: HeaderFields(), isComplete: true) { bytes.append(contentsOf: $0) }
        #expect(String(decoding: bytes, as: UTF8.self) == "{\"token\":\"{{token:1}}\"}")
    }

    @Test func aBodyIsComparedAsTheCassetteWouldHoldIt() {
        let body = LiveRedactor(Redactor()).redacted(
            body: Array("{\"token\":\"a1\"}".utf8), headers: HeaderFields(["Content-Type: application/json"]))
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == "{\"token\":\"{{token:1}}\"}")
    }

    @Test func secretOfAFieldIsRedactedInTheURL() {
        let live = LiveRedactor(Redactor())
        let (url, headers) = live.redacted(
            url: "http://h/?q=s3cret-0123", headers: HeaderFields(["Authorization: Bearer s3cret-0123", "X-Q: a"]))
        #expect(url == "http://h/?q={{authorization:1}}")
        #expect(headers.lines == ["Authorization: Bearer {{authorization:1}}", "X-Q: a"])
    }

    @Test func aSecretOfAnEarlierRequestIsKnownInBase64AndHex() {
        let secret = Array("s3cret-0123".utf8)
        let live = LiveRedactor(Redactor())
        _ = live.forOneRequest().redacted(url: "http://h/", headers: HeaderFields(["Authorization: Bearer s3cret-0123"]))
        let base64 = String(decoding: SecretCorpus.base64(secret), as: UTF8.self)
        let hidden = Array("{{authorization:1}}".utf8)
        let body = live.forOneRequest().redacted(
            body: Array(#"{"a":"\#(base64)","b":"\#(Hex.encode(secret))"}"#.utf8), headers: HeaderFields(["Content-Type: application/json"])
        )
        let expected = #"{"a":"\#(String(decoding: SecretCorpus.base64(hidden), as: UTF8.self))","b":"\#(Hex.encode(hidden))"}"#
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == expected)
        #expect(live.forOneRequest().redacted(url: "http://h/?x=s3cret-0123") == "http://h/?x={{authorization:1}}")
    }

    @Test func secretsOfManyRequestsAreForgotten() {
        let live = LiveRedactor(Redactor(), secretLimit: 10)
        for number in 0..<95 { _ = live.forOneRequest().redacted(url: "http://h/?token=token-\(number)-0123") }
        #expect(live.count == 0)
        #expect(live.forOneRequest().count <= 10)
        #expect(live.forOneRequest().redacted(url: "http://h/?x=token-3-0123") == nil)
        #expect(live.forOneRequest().redacted(url: "http://h/?x=token-94-0123") != nil)
    }
}
