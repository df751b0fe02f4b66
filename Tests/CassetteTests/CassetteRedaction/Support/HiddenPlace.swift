import TapeTestSupport
import Testing

@testable import CassetteRedaction

/// Texts with `h7nter2Xq` in one place, redacted as bodies.
enum HiddenPlace {
    static let secret = "h7nter2Xq"

    /// Expects that the secret is gone and a second search changes nothing, and the same for the text in a JSON string.
    static func check(_ text: String, type: String, inJSON: Bool = true, _ location: SourceLocation = #_sourceLocation) {
        let redacted = RedactionFixtures.body(text, type: type)
        #expect(!redacted.contains(self.secret), "\(redacted)", sourceLocation: location)
        #expect(redacted != text, sourceLocation: location)
        #expect(RedactionFixtures.body(redacted, type: type) == redacted, sourceLocation: location)
        guard inJSON, type != "application/json" else { return }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n").replacing(
            "\t", with: "\\t")
        let body = RedactionFixtures.body("{\"a\":1,\"line\":\"\(escaped)\",\"b\":2}")
        let isPart = body.hasPrefix(#"{"a":1,"line":""#) && body.hasSuffix(#"","b":2}"#)
        #expect(isPart && !body.contains(self.secret) && !body.contains(escaped), "\(body)", sourceLocation: location)
    }

    static func stays(_ text: String, type: String, _ location: SourceLocation = #_sourceLocation) {
        #expect(RedactionFixtures.body(text, type: type) == text, sourceLocation: location)
    }
}
