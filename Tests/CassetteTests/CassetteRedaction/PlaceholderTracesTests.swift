import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassetteRedaction

/// Placeholders are never secrets: the search of a body ends, and a second search changes nothing.
@Suite struct PlaceholderTracesTests {
    @Test(arguments: [
        "{{password:1}}", "{{password:1}}****", "{{a:1}}{{b:22}}", "{{s:000001}}", "%7B%7Bpassword:1%7D%7D", "%7b%7Bpassword%3a1%7D%7d*",
        "5ec7e700-0000-4000-8000-000000000001",
    ])
    func placeholdersAreNoSecrets(text: String) {
        #expect(Placeholder.isAll(Array(text.utf8)))
    }

    @Test(arguments: ["{", "{{", "{{pass", "{{password:", "{{password:1", "{{password:1}", "{{a:1}}{{co"])
    func aCutPlaceholderIsOneWhereItMayBeCut(text: String) {
        #expect(Placeholder.isAll(Array(text.utf8), mayBeCut: true))
        #expect(!Placeholder.isAll(Array(text.utf8)))
    }

    @Test(arguments: ["", "*", "****", "{{", "x{{a:1}}", "{{a:1}}x", "{{a b:1}}", "{{a:b", "{a}", "{{a:1}}*x", "hunter2"])
    func otherTextsAreNoPlaceholders(text: String) {
        #expect(!Placeholder.isAll(Array(text.utf8)))
        if text != "{{" { #expect(!Placeholder.isAll(Array(text.utf8), mayBeCut: true)) }
    }

    /// The placeholder of a long secret is filled with `*`, which used to be a new secret each time.
    @Test func aFilledPlaceholderIsNotFoundAgain() {
        let text = Array(#"{"password":"k7Zq0Lm2x9Yw8Vu7q1w2e3r4t5y6"}"#.utf8) + [0, 0xFF, 0xFE]
        let vault = SecretVault()
        let redacted = RedactionFixtures.bytes(text, ["Content-Type: application/octet-stream"], vault: vault)
        #expect(redacted.count == text.count)
        #expect(String(decoding: redacted, as: UTF8.self).hasPrefix(#"{"password":"{{password:1}}**************"}"#))
        #expect(vault.count == 1)
        #expect(RedactionFixtures.bytes(redacted, ["Content-Type: application/octet-stream"], vault: SecretVault()) == redacted)
    }

    @Test func aWordOfAPlaceholderIsNotReplacedInIt() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("access_token9".utf8), kind: "env-A")
        _ = vault.placeholder(for: Array("x-access_token9".utf8), kind: "env-B")
        let text = "say {{x-access_token9:1}} and %7B%7Bx-access_token9:1%7D%7D"
        #expect(RedactionFixtures.body(text, type: "text/plain", vault: vault) == text)
    }

    /// A word of a placeholder is no leak, not even where base64 spells it.
    @Test func aWordOfAPlaceholderIsNoLeak() throws {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("x-access_token9".utf8), kind: "x")
        let scan = LeakScan(vault)
        let placeholder = Array("say {{x-access_token9:1}}!".utf8)
        #expect(try scan.leaks(in: ByteSource(placeholder)).isEmpty)
        #expect(try scan.leaks(in: ByteSource(SecretCorpus.base64(placeholder))).isEmpty)
        #expect(try scan.leaks(in: ByteSource(Array("say x-access_token9!".utf8))).count == 1)
        #expect(try scan.leaks(in: ByteSource(SecretCorpus.base64(Array("say x-access_token9!".utf8)))).count == 1)
    }

    // MARK: Random bodies

    private static let pieces: [[UInt8]] =
        [
            "password", "token", "\"", "\"password\":\"", "\"token\": \"", "pwd=", "?token=", "&password=", "authorization: Bearer ",
            "Cookie: a=",
            "<password>", "</password>", "<token a='b'>", "://u:p@h", "://", "@", ":", "{{", "}}", "{{password:1}}", "{{token:2}}",
            "{{password:1}}***",
            "{{s:0001}}", "%7B%7Btoken:1%7D%7D", "%7B", "{", "*", "5ec7e700-0000-4000-8000-000000000001",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.abc",
            "k7Zq0Lm2x9Yw", "hunter2", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "AKIAABCDEFGHIJKLMNOP", ";", "&", "=", " = ", "\n", " ",
            "\\\"", "\\u0022",
            "&quot;", "%22", "[", "]", ",", "name", "value", "\"name\":\"password\",\"value\":\"", "machine h login u password ",
            "curl -u a:", " -p ",
            "cGFzc3dvcmQ9", "eyJwYXNzd29yZCI6ImgxIn0=", "c2VjcmV0PWs3WnEwTG0yeDlZdw==", "password:\n  value: ", "{\"value\":\"",
        ].map { Array($0.utf8) } + [[0], [0xFF], [0, 1, 2], [0xC3, 0x28], [10, 0], [0x1F, 0x8B]]

    private static func body(_ random: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 1...9, using: &random)).flatMap { _ in Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)] }
    }

    private static let types = [
        "application/json", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded", "application/xml", "image/png",
    ]

    private static func redact(_ body: [UInt8], _ type: String) -> (notes: [String], bytes: [UInt8]) {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 1), request: RecordedRequest(method: "GET", url: "http://h.test/"))
        interaction.response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Type: \(type)"]))
        var (request, response): (WireBody?, WireBody?) = (nil, WireBody(body))
        let outcome = Redactor().redact(&interaction, requestBody: &request, responseBody: &response)
        return (outcome.response.notes, response?.bytes ?? [])
    }

    @Test(arguments: 0..<24)
    func searchesEndAndASecondSearchChangesNothing(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<250 {
            let body = Self.body(&random)
            let type = Self.types[Int.random(in: 0..<Self.types.count, using: &random)]
            let (notes, once) = Self.redact(body, type)
            let shown = String(decoding: body, as: UTF8.self).debugDescription
            // One of the notes would report that the search did not end. Bytes that are no text have another one.
            let isAsExpected = notes.allSatisfy { $0.contains("bytes that are not the text") }
            #expect(isAsExpected, "\(notes) \(shown) as \(type)")
            let (_, twice) = Self.redact(once, type)
            let isSame = twice == once
            let texts = [once, twice].map { String(decoding: $0, as: UTF8.self).debugDescription }
            #expect(isSame, "\(shown) as \(type) became \(texts[0]) and then \(texts[1])")
        }
    }
}
