import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes

struct ContentFacetsTests {
    /// How a body is understood: its header lines, its text, a body rule, the kind.
    @Test(arguments: [
        ("application/json", "{}", "body", "json"), ("application/vnd.api+json", "[1]", "body", "json"),
        ("application/json", "1", "body", "json"),
        ("application/json", "{", "body", "text"), ("", "{\"a\":1}", "body", "json"), ("", "1", "body", "text"), ("", "a", "body", "text"),
        ("application/x-www-form-urlencoded", "a=1", "body", "form"), ("application/x-www-form-urlencoded", "{\"a\":1}", "body", "json"),
        ("application/x-www-form-urlencoded", "{a}", "body", "form"), ("text/plain", "a", "body", "text"),
        ("text/xml", "<a/>", "body", "text"),
        ("image/png", "a", "body", "bytes"), ("application/octet-stream", "{}", "body", "bytes"),
        ("application/unknown", "a", "body", "bytes"),
        ("application/json", "{}", "body:bytes", "bytes"), ("text/plain", "1", "body:json", "json"),
        ("text/plain", "x", "body:json", "text"),
        ("image/png", "[1]", "body:json", "json"), ("text/plain", "a=1", "body:form", "form"), ("image/png", "a", "body:text", "text"),
        ("application/json", "{}", "body:text", "text"), ("application/json", "{}", "body:multipart", "json"),
        ("multipart/form-data; boundary=x", "--x\r\n\r\n1\r\n--x--", "body:multipart", "multipart"),
        ("multipart/form-data; boundary=x", "--x\r\n\r\n1\r\n--x--", "body", "multipart"), ("multipart/form-data", "--x", "body", "bytes"),
        ("application/json", "", "body", "none"), ("application/json", "{}", "method", "none"),
    ]) func aBodyHasAKind(type: String, text: String, rule: String, kind: String) throws {
        let rules = try MatchRules(match: [rule])
        #expect(MatchFixture.live(text, type.isEmpty ? [] : ["Content-Type: \(type)"], rules).kind.rawValue == kind)
    }

    @Test func aBodyTooLongForMemoryIsBytes() {
        let blanks = [UInt8](repeating: 32, count: BodyFacets.memoryLimit - 2)
        #expect(MatchFixture.live(Array("[".utf8) + blanks + Array("]".utf8), MatchFixture.json, cuts: [1 << 20]).kind == .json)
        let longer = Array("[".utf8) + blanks + Array(" ]".utf8)
        #expect(MatchFixture.live(longer, MatchFixture.json, cuts: [1 << 20]).kind == .bytes)
        #expect(MatchFixture.live(longer, MatchFixture.json, cuts: [1, 5 << 20]) == MatchFixture.live(longer, MatchFixture.binary))
    }

    @Test func digestsStandForWhatNeedNotBeRead() {
        func content(_ lines: [String]) -> ContentFacets {
            ContentFacets(MatchRules.standard.body, headers: HeaderFields(lines)) { PortableSHA256() }
        }
        #expect(content(MatchFixture.binary).takesDigest(size: 1))
        #expect(!content(MatchFixture.json).takesDigest(size: BodyFacets.memoryLimit))
        #expect(content(MatchFixture.json).takesDigest(size: BodyFacets.memoryLimit + 1))
        #expect(!content(MatchFixture.parts("x")).takesDigest(size: 1 << 40))
    }
}
