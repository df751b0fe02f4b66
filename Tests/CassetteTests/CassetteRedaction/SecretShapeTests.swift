@testable import CassetteRedaction
import Testing

@Suite struct SecretShapeTests {
    @Test(arguments: SecretShape.all.indices) func isFoundByItsPrefixAndLength(index: Int) throws {
        let shape = SecretShape.all[index]
        let characters = String(repeating: "A1B2C3D4E5", count: shape.length.lowerBound / 10 + 1)
        // An id, a colon and a word.
        let tail = ((shape.alphabet == .numberAndWord ? "1234567:" : "") + characters).prefix(shape.length.lowerBound)
        let token = "\(shape.prefix)\(tail)"
        Array(" \(token) ".utf8).withUnsafeBytes { text in
            #expect(shape.range(in: text, anchorAt: 1 + shape.anchor) == 1 + shape.kept..<1 + token.utf8.count)
        }
        Array(" \(token.dropLast()) ".utf8).withUnsafeBytes { text in
            #expect(shape.range(in: text, anchorAt: 1 + shape.anchor) == nil)
        }
        #expect(RedactionFixtures.body("see \(token).", type: "text/plain") == "see \(token.prefix(shape.kept)){{\(shape.kind):1}}.")
    }

    /// A body of 100 KB was 20,000 secrets that overlapped, each of which was searched for.
    @Test(arguments: ["xoxb-", "sk-ant-", "TGT-", "xoxb-a-"]) func aRepeatedPrefixIsOneToken(prefix: String) {
        let text = String(repeating: prefix, count: 20_000)
        let redacted = RedactionFixtures.body("\(text) \(prefix)1234567890abcdefghijklmnop", type: "text/plain")
        #expect(redacted.count { $0 == "{" } <= 4, "\(redacted.suffix(200))")
        #expect(!redacted.contains("1234567890abcdef"))
    }
}
