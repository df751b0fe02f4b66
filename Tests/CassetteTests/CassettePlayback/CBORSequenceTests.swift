import TapeBytes
import Testing

@testable import CassettePlayback

/// Sequences of CBOR are compared value by value (RFC 8742).
struct CBORSequenceTests {
    private func facets(_ hex: String, _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(Hex.decode(Array(hex.utf8)) ?? [], ["Content-Type: application/cbor-seq"], rules)
    }

    @Test func valuesAreComparedInTheirOrder() {
        // {"a": 1} and 2, with lengths and numbers of other widths.
        #expect(self.facets("a161610102") == self.facets("bf61611801ff1802"))
        #expect(self.facets("a161610102").kind == .cbor)
        #expect(self.facets("0102") != self.facets("0201"))
        #expect(self.facets("0102") != self.facets("820102"))
        let differences = self.facets("a161610102").differences(fromRecorded: self.facets("a161610202")).map(\.description)
        #expect(differences == ["JSON \"/0/a\" is 1, recorded is 2"])
    }

    @Test func rulesNameAValueByItsNumber() throws {
        let ignoring = try MatchRules(ignore: ["json:/0/a"])
        #expect(self.facets("a161610102", ignoring) == self.facets("a161610202", ignoring))
        #expect(self.facets("a161610102", ignoring) != self.facets("a161610103", ignoring))
        let ignoringAll = try MatchRules(ignore: ["json:/*/a"])
        #expect(self.facets("a1616101a1616102", ignoringAll) == self.facets("a1616103a1616104", ignoringAll))
    }

    /// The tag 55799 only says that a value is CBOR (RFC 8949, 3.4.6).
    @Test func theTagOfSelfDescribedCBORMeansNothing() {
        func one(_ hex: String) -> BodyFacets { MatchFixture.live(Hex.decode(Array(hex.utf8)) ?? [], ["Content-Type: application/cbor"]) }
        #expect(one("d9d9f7a1616101") == one("a1616101") && one("d9d9f701") == one("01"))
        #expect(one("d9d9f7a1616102") != one("a1616101"))
        #expect(one("d9d9f7c101") == one("c101") && one("c101") != one("01"))
        #expect(self.facets("d9d9f70102") == self.facets("0102"))
    }

    @Test func aBrokenValueMakesItBytes() { #expect(self.facets("01a1").kind == .bytes) }
}
