@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

struct BodyFacetBuilderTests {
    private let coded = ["Content-Type: application/json", "Content-Encoding: gzip"]

    @Test func cutsDoNotCount() {
        for (bytes, lines) in [
            (CodingFixtures.content, MatchFixture.json), (CodingFixtures.gzip6, self.coded),
            (Array("a=1&b={{x:1}}".utf8), MatchFixture.form),
            (Array("é{{x:1}}é".utf8), MatchFixture.text), (Array("a{{x:1}}é".utf8), MatchFixture.binary),
            (Array("not gzip".utf8), self.coded),
        ] {
            let whole = MatchFixture.live(bytes, lines)
            for cut in 0...bytes.count { #expect(MatchFixture.live(bytes, lines, cuts: [cut]) == whole, "\(lines) \(cut)") }
            #expect(MatchFixture.live(bytes, lines, cuts: Array(0..<bytes.count)) == whole)
        }
    }

    @Test func codingsDoNotCount() {
        #expect(MatchFixture.live(CodingFixtures.gzip6, self.coded) == MatchFixture.live(CodingFixtures.content, MatchFixture.json))
        #expect(MatchFixture.live(CodingFixtures.zlib, MatchFixture.json + ["Content-Encoding: deflate"]).kind == .json)
    }

    @Test func aBrokenCodingIsComparedAsItWasSent() {
        let cut = Array(CodingFixtures.gzip6.dropLast(3))
        #expect(MatchFixture.live(cut, self.coded).kind == .bytes)
        #expect(MatchFixture.live(cut, self.coded) == MatchFixture.live(cut, MatchFixture.binary))
        #expect(
            MatchFixture.live(Array("{}".utf8), MatchFixture.json + ["Content-Encoding: own"]) == MatchFixture.live("{}", MatchFixture.json)
        )
        #expect(MatchFixture.live([], self.coded) == .none)
    }

    @Test func aBombIsComparedAsItWasSent() {
        let bomb = Array(repeating: CodingFixtures.mebibyteOfZeros, count: 80).joined() + [3, 0]
        let lines = MatchFixture.binary + ["Content-Encoding: deflate"]
        #expect(MatchFixture.live(Array(bomb), lines).facets.first?.size == bomb.count)
    }

    @Test func absentAndEmptyAreEqual() {
        #expect(MatchFixture.live("", MatchFixture.json) == .none)
        #expect(MatchFixture.live("", []) == .none)
        #expect(MatchFixture.live(" ", []) != .none)
    }
}

struct BodyPlanTests {
    @Test func takesWhatConcernsBodies() throws {
        let plan = try MatchRules(
            match: ["body:json", "part-order"], ignore: ["form:a", "part:b", "json:/c", "query:d"], patterns: ["form:e=x", "part:f=y"]
        ).body
        #expect(plan.match == .json)
        #expect(plan.ordersParts)
        func name(_ text: String) -> [UInt8] { Array(text.utf8) }
        #expect(plan.fields.ignores(name("a")) && !plan.fields.ignores(name("e")))
        #expect(plan.parts.ignores(name("b")) && !plan.parts.ignores(name("f")))
        #expect(plan.fields[name("e")]?.patterns.count == 1 && plan.fields[name("a")] == nil)
        #expect(plan.parts[name("f")]?.patterns.count == 1 && plan.parts[name("b")] == nil)
        #expect(!plan.pointers.all.isEmpty && plan.xmlPointers.all.isEmpty)
    }

    @Test func graphQLAloneComparesOtherBodiesByKind() throws {
        #expect(try MatchRules(match: ["graphql"]).body.match == .byKind)
        #expect(try MatchRules(match: ["method"]).body.match == nil)
    }
}

struct ContentFacetsTests {
    /// How a body is understood: its header lines, its text, a body rule, and the kind.
    @Test(arguments: [
        ("application/json", "{}", "body", "json"), ("application/vnd.api+json", "[1]", "body", "json"),
        ("application/json", "1", "body", "json"),
        ("application/json", "{", "body", "text"), ("", "{\"a\":1}", "body", "json"), ("", "1", "body", "text"), ("", "a", "body", "text"),
        ("application/x-www-form-urlencoded", "a=1", "body", "form"), ("application/x-www-form-urlencoded", "{\"a\":1}", "body", "json"),
        ("application/x-www-form-urlencoded", "{a}", "body", "form"), ("text/plain", "a", "body", "text"),
        ("text/xml", "<a/>", "body", "xml"), ("text/html", "<a/>", "body", "text"), ("image/png", "<a/>", "body:xml", "xml"),
        ("image/png", "a", "body", "bytes"), ("application/octet-stream", "{}", "body", "bytes"),
        ("application/unknown", "a", "body", "bytes"),
        ("application/json", "{}", "body:bytes", "bytes"), ("text/plain", "1", "body:json", "json"),
        ("application/msgpack", "\u{1}", "body", "messagepack"), ("application/cbor", "\u{1}", "body", "cbor"),
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

    @Test func digestsReplaceReadingTheBody() {
        func content(_ lines: [String]) -> ContentFacets {
            ContentFacets(MatchRules.standard.body, headers: HeaderFields(lines)) { PortableSHA256() }
        }
        #expect(content(MatchFixture.binary).takesDigest(size: 1))
        #expect(!content(MatchFixture.json).takesDigest(size: BodyFacets.memoryLimit))
        #expect(content(MatchFixture.json).takesDigest(size: BodyFacets.memoryLimit + 1))
        #expect(!content(MatchFixture.parts("x")).takesDigest(size: 1 << 40))
    }
}
