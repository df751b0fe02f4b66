import Testing

@testable import CassettePlayback
@testable import TapeBytes

struct MessagePackFacetsTests {
    private func facets(_ hex: String, _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(Hex.decode(Array(hex.utf8)) ?? [], ["Content-Type: application/msgpack"], rules)
    }

    @Test(arguments: [
        ("82a16101a162c3", "82a162c3a16101"), ("81a16101", "de0001a161cc01"), ("9201ff", "dc0002ce00000001d0ff"), ("a161", "d90161"),
        ("ca3fc00000", "cb3ff8000000000000"), ("810102", "81d10001d20000 0002"), ("c40161", "c5000161"), ("d50a6162", "c7020a6162"),
        ("82a16101a16102", "82a16101a16102"),
    ]) func equal(left: String, right: String) {
        let right = right.replacing(" ", with: "")
        #expect(self.facets(left) == self.facets(right))
        #expect(self.facets(left).kind == .messagePack)
    }

    @Test(arguments: [
        ("81a16101", "81a16102", ["JSON \"/a\" is 1, recorded is 2"]), ("920102", "920201", nil), ("01", "cb3ff0000000000000", nil),
        ("a131", "01", nil), ("a161", "c40161", nil), ("810101", "81a13101", nil), ("90", "80", nil), ("c0", "c2", nil),
        ("d50a6162", "d50b6162", nil),
        ("82a16101a16102", "82a16102a16101", nil), ("81a1619101", "81a16101", nil),
        ("81a162a178", "80", ["JSON \"/b\", which is \"x\", was not recorded"]),
    ]) func unequal(left: String, right: String, why: [String]?) {
        #expect(self.facets(left) != self.facets(right))
        #expect([self.facets(left), self.facets(right)].allSatisfy { $0.kind == .messagePack })
        if let why { #expect(self.facets(left).differences(fromRecorded: self.facets(right)).map(\.description) == why) }
    }

    @Test(arguments: ["c1", "81a161", "0101", "dd7fffffff", "dfffffffff", "a561", "d9ff", "c7", "cb00"])
    func anythingElseIsBytes(hex: String) { #expect(self.facets(hex).kind == .bytes) }

    @Test func rulesHold() throws {
        let ignoring = try MatchRules(ignore: ["json:/id"])
        #expect(self.facets("82a2696401a16102", ignoring) == self.facets("82a16102a2696409", ignoring))
        #expect(self.facets("82a2696401a16102", ignoring) != self.facets("82a16103a2696409", ignoring))
        let pattern = try MatchRules(patterns: ["json:/id=[0-9]+"])
        #expect(self.facets("81a2696401", pattern) == self.facets("81a26964a132", pattern))
        #expect(self.facets("81a2696401", pattern) != self.facets("81a26964a178", pattern))
    }

    @Test func deepValuesAreBytes() { #expect(self.facets(String(repeating: "91", count: 100_000) + "01").kind == .bytes) }
}

struct CBORFacetsTests {
    private func facets(_ hex: String, _ rules: MatchRules = .standard) -> BodyFacets {
        MatchFixture.live(Hex.decode(Array(hex.utf8)) ?? [], ["Content-Type: application/cbor"], rules)
    }

    @Test(arguments: [
        ("a2616101616202", "a2616202616101"), ("a1616101", "bf61611801ff"), ("820102", "9f0102ff"), ("6161", "7f6161ff"),
        ("626162", "7f61616162ff"),
        ("f93e00", "fb3ff8000000000000"), ("f93e00", "fa3fc00000"), ("20", "3800"),
        ("c074323031332d30332d32315432303a30343a30305a", "d80074323031332d30332d32315432303a30343a30305a"),
        ("a10102", "a1180119000 2"), ("f97c00", "fb7ff0000000000000"), ("f90001", "fb3e70000000000000"),
        ("3bffffffffffffffff", "3bffffffffffffffff"),
    ]) func equal(left: String, right: String) {
        let right = right.replacing(" ", with: "")
        #expect(self.facets(left) == self.facets(right))
        #expect(self.facets(left).kind == .cbor)
    }

    @Test(arguments: [
        ("a1616101", "a1616102", ["JSON \"/a\" is 1, recorded is 2"]), ("820102", "820201", nil), ("01", "f93c00", nil),
        ("6131", "01", nil),
        ("6161", "4161", nil), ("a10101", "a1613101", nil), ("80", "a0", nil), ("f4", "f5", nil), ("f6", "f7", nil), ("01", "c101", nil),
        ("81c101", "c18101", nil),
        ("80", "c180", nil), ("20", "00", nil), ("3bffffffffffffffff", "3bfffffffffffffffe", nil), ("f8ff", "f7", nil),
        ("f98000", "f90000", nil),
    ]) func unequal(left: String, right: String, why: [String]?) {
        #expect(self.facets(left) != self.facets(right))
        #expect([self.facets(left), self.facets(right)].allSatisfy { $0.kind == .cbor })
        if let why { #expect(self.facets(left).differences(fromRecorded: self.facets(right)).map(\.description) == why) }
    }

    @Test(arguments: [
        "ff", "81", "0101", "9b7fffffffffffffff", "bbffffffffffffffff", "62", "9f01", "7f01ff", "1c", "f800", "a101", "bf01ff",
    ])
    func anythingElseIsBytes(hex: String) { #expect(self.facets(hex).kind == .bytes) }

    @Test func rulesHold() throws {
        let ignoring = try MatchRules(ignore: ["json:/*/id"])
        #expect(
            self.facets("81a2626964016161 02".replacing(" ", with: ""), ignoring)
                == self.facets("81a2616102626964 09".replacing(" ", with: ""), ignoring))
        #expect(self.facets("81a262696401616102", ignoring) != self.facets("81a262696401616103", ignoring))
    }

    @Test func deepValuesAreBytes() {
        #expect(self.facets(String(repeating: "81", count: 100_000) + "01").kind == .bytes)
        #expect(self.facets(String(repeating: "c1", count: 100_000) + "01").kind == .bytes)
    }
}
