@testable import CassetteFormat
@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes
import Testing

struct BodyFacetsTests {
    @Test func theDigestAloneIsEqual() {
        let facets = MatchFixture.live("{\"a\":1}", MatchFixture.json)
        #expect(facets.digestOnly == facets)
        #expect(facets.digestOnly.facets.isEmpty)
        #expect(facets.digestOnly.count == 2)
        #expect(Set([facets, facets.digestOnly]).count == 1)
    }

    @Test func kindsDoNotMix() {
        #expect(MatchFixture.live("1", MatchFixture.text) != MatchFixture.live("1", MatchFixture.json))
        #expect(BodyFacets.none.kind == .none)
    }
}

struct BodyFacetsDifferencesTests {
    @Test func equalBodiesHaveNone() {
        #expect(MatchFixture.differences("{\"a\":1}", "{ \"a\": 1.0 }", MatchFixture.json) == [])
    }

    @Test func anotherKindIsTheDifference() {
        let json = MatchFixture.live("{}", MatchFixture.json)
        #expect(json.differences(fromRecorded: .none).map(\.description) == ["body is json, recorded is empty"])
        #expect(BodyFacets.none.differences(fromRecorded: json).map(\.description) == ["body is empty, recorded is json"])
    }

    @Test func bytesAreNamedByTheirOffset() {
        #expect(MatchFixture.differences("abc", "abd", MatchFixture.binary) == ["body differs at byte 2 of 3"])
        #expect(MatchFixture.differences("abc", "ab", MatchFixture.binary) == ["body differs at byte 2: 3 bytes, recorded 2"])
    }

    @Test func differenceAfterTheStoredPartIsTheRemainder() {
        let many = { (last: Int) in "[" + (0..<5000).map { "\($0)" }.joined(separator: ",") + ",\(last)]" }
        #expect(MatchFixture.differences(many(1), many(2), MatchFixture.json) == ["the bodies differ after the part that was stored"])
        let facets = MatchFixture.live("[1]", MatchFixture.json)
        #expect(MatchFixture.live("[2]", MatchFixture.json).digestOnly.differences(fromRecorded: facets.digestOnly) == [.bodyRemainder])
    }

    @Test func soManyAreListed() {
        let live = "[" + (0..<4000).map { "\($0)" }.joined(separator: ",") + "]"
        let recorded = "[" + (0..<4000).map { "\($0 + 1)" }.joined(separator: ",") + "]"
        #expect(MatchFixture.differences(live, recorded, MatchFixture.json).count == BodyFacets.differenceLimit)
    }
}

struct BodyFacetsFitTests {
    /// The recorded body, the live one, their header lines, and whether they match.
    @Test(arguments: [
        (#"{"t":"{{jwt:1}}","n":1}"#, #"{"t":"abc","n":1}"#, "application/json", true),
        (#"{"t":"{{jwt:1}}","n":1}"#, #"{"t":"abc","n":2}"#, "application/json", false),
        (#"{"t":"{{jwt:1}}","n":1}"#, #"{"t":"abc","n":"1"}"#, "application/json", false),
        (#"{"t":"{{jwt:1}}"}"#, #"{"t":""}"#, "application/json", false), (#"{"t":"{{jwt:1}}"}"#, #"{"t":12}"#, "application/json", false),
        (#"{"t":"x-{{jwt:1}}"}"#, #"{"t":"x-9"}"#, "application/json", true),
        (#"{"t":"x-{{jwt:1}}"}"#, #"{"t":"y-9"}"#, "application/json", false),
        (#"{"t":"{{jwt:1}}"}"#, #"{"t":"a","u":1}"#, "application/json", false),
        ("a={{x:1}}&a={{x:2}}", "a=1&a=2", "application/x-www-form-urlencoded", true),
        ("a={{x:1}}", "b=1", "application/x-www-form-urlencoded", false), ("pass {{x:1}}.", "pass word.", "text/plain", true),
        ("pass {{x:1}}.", "pass word", "text/plain", false), ("a{{x:1}}", "ab", "application/octet-stream", true),
        ("ab", "ac", "text/plain", false),
    ]) func aMarkMatchesTextOfTheLiveBody(recorded: String, live: String, type: String, expected: Bool) {
        let lines = ["Content-Type: \(type)"]
        #expect(MatchFixture.live(recorded, lines).fits(live: MatchFixture.live(live, lines)) == expected)
    }

    @Test func equalOnesFit() {
        let facets = MatchFixture.live("{}", MatchFixture.json)
        #expect(facets.fits(live: facets))
        #expect(!facets.fits(live: .none))
    }

    @Test func partsFitToo() {
        func part(_ data: String, filename: String = "a") -> BodyFacets {
            let head = ["Content-Disposition: form-data; name=\"p\"; filename=\"\(filename)\""]
            return MatchFixture.live(MatchFixture.multipart("0123456789abcdef", [(head, data)]), MatchFixture.parts("0123456789abcdef"))
        }
        #expect(part("x{{password:1}}").fits(live: part("xyz")))
        #expect(!part("x{{password:1}}").fits(live: part("xyz", filename: "b")))
        #expect(part("x", filename: "{{env-A:1}}").fits(live: part("x", filename: "b")))
    }

    /// A recorded and a live body of a type, around a text longer than the one that is kept for reports.
    @Test(arguments: [
        ("text/plain", "X{{a:1}}", "Xy", "yX"), ("application/json", #"{"a":"X{{a:1}}"}"#, #"{"a":"Xyz"}"#, #"{"a":"yX"}"#),
        ("application/x-www-form-urlencoded", "a=X{{a:1}}&b=1", "b=1&a=Xy", "b=2&a=Xy"),
        ("application/octet-stream", "X{{a:1}}X", "XyX", "Xy"),
        (
            "multipart/form-data; boundary=0123456789",
            "--0123456789\r\nContent-Disposition: form-data; name=a\r\n\r\nX{{a:1}}\r\n--0123456789--\r\n",
            "--0123456789\r\nContent-Disposition: form-data; name=a\r\n\r\nXy\r\n--0123456789--\r\n",
            "--0123456789\r\nContent-Disposition: form-data; name=a\r\n\r\nyX\r\n--0123456789--\r\n"
        ),
    ]) func longValuesFitWhereTheyAreKeptWhole(type: String, recorded: String, live: String, other: String) throws {
        let rules = MatchRules.standard.keepingWholeValues()
        func facets(_ text: String) -> BodyFacets {
            let long = text.replacing("X", with: String(repeating: "x", count: BodyFacets.valueLimit + 1000))
            return MatchFixture.live(long, ["Content-Type: \(type)"], rules)
        }
        #expect(facets(recorded).fits(live: facets(live)))
        #expect(!facets(recorded).fits(live: facets(other)))
    }

    @Test func aMarkFarFromTheStartMatchesToo() {
        let rules = MatchRules.standard.keepingWholeValues()
        let values = (0..<BodyFacets.facetLimit + 10).map { "\($0)" }.joined(separator: ",")
        let recorded = MatchFixture.live("[\(values),\"{{a:1}}\"]", MatchFixture.json, rules)
        #expect(recorded.fits(live: MatchFixture.live("[\(values),\"x\"]", MatchFixture.json, rules)))
        #expect(!recorded.fits(live: MatchFixture.live("[\(values),\"\"]", MatchFixture.json, rules)))
    }

    @Test func aValueThatWasNotKeptWholeDoesNotFit() {
        let long = String(repeating: "x", count: BodyFacets.valueLimit)
        let recorded = MatchFixture.live(long + "{{a:1}}", MatchFixture.text)
        #expect(!recorded.fits(live: MatchFixture.live(long + "y", MatchFixture.text)))
    }
}

struct BodyFacetsRecordedTests {
    /// Bodies in every form that a cassette has.
    static let bodies: [(name: String, bytes: [UInt8], lines: [String])] = [
        ("json", CodingFixtures.content, MatchFixture.json),
        ("long json", Array(("[" + (0..<20_000).map { "\($0)" }.joined(separator: ",") + "]").utf8), MatchFixture.json),
        ("gzip", CodingFixtures.gzip6, MatchFixture.json + ["Content-Encoding: gzip"]),
        ("gzip of another producer", CodingFixtures.gzipNode, MatchFixture.json + ["Content-Encoding: gzip"]),
        ("deflate", CodingFixtures.zlib, MatchFixture.json + ["Content-Encoding: deflate"]),
        ("no gzip", Array("{\"a\":1}".utf8), MatchFixture.json + ["Content-Encoding: gzip"]),
        ("unknown coding", Array("{\"a\":1}".utf8), MatchFixture.json + ["Content-Encoding: own"]),
        ("form", Array("a=1&b=%20+".utf8), MatchFixture.form), ("text", Array("a\nb".utf8), MatchFixture.text),
        ("another charset", [0xE9, 0x61], ["Content-Type: text/plain; charset=iso-8859-1"]),
        ("lines", Array("{\"a\":1}\n{\"a\":2}\n".utf8), ["Content-Type: application/x-ndjson"]),
        ("events", Array("data: {\"a\":1}\n\n".utf8), ["Content-Type: text/event-stream"]),
        ("short bytes", Array(0..<200), MatchFixture.binary),
        ("long bytes", (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }, MatchFixture.binary),
        ("parts", Array(Self.parts().utf8), MatchFixture.parts("0123456789abcdef")),
        (
            "parts under gzip", CodingFixtures.deflated(Array(Self.parts().utf8), DeflateParameters(level: 6), .gzip),
            MatchFixture.parts("0123456789abcdef") + ["Content-Encoding: gzip"]
        ),
        ("no parts", Array("x".utf8), MatchFixture.parts("0123456789abcdef")), ("empty", [], MatchFixture.json),
    ]

    /// A part in a file, a part in base64, and nested parts.
    private static func parts() -> String {
        let boundary = "0123456789abcdef"
        let inner = MatchFixture.fields("inner-0123", [("x", "1"), ("long", String(repeating: "y", count: 70_000))])
        let name = "Content-Disposition: form-data; name="
        return MatchFixture.multipart(
            boundary,
            [
                ([name + "\"a\""], "1"),
                ([name + "\"photo\"; filename=\"a.bin\"", "Content-Type: image/png"], String(repeating: "z", count: 70_000)),
                ([name + "\"b\"", "Content-Transfer-Encoding: base64"], "aGVsbG8="),
                ([name + "\"c\"", "Content-Type: application/json"], "{\"a\": 1}"),
                ([name + "\"d\"", "Content-Type: multipart/mixed; boundary=inner-0123"], inner), ([name + "\"empty\""], ""),
            ])
    }

    @Test(arguments: Self.bodies.indices) func recordedIsEqualToLive(index: Int) throws {
        let (name, bytes, lines) = Self.bodies[index]
        let fixture = try RecordedFixture()
        let rules = try [
            MatchRules.standard, MatchRules(match: ["body:bytes"]), MatchRules(match: ["body:json", "part-order"]),
            MatchRules(match: ["graphql"]),
        ]
        for rules in rules {
            let live = MatchFixture.live(bytes, lines, rules)
            for detail in [.digests, .contents] as [BodyFacets.RecordedDetail] {
                let recorded = try fixture.facets(bytes, lines, rules, detail)
                #expect(recorded == live, "\(name) \(rules.rules)")
                #expect(recorded.kind == live.kind)
                #expect(live.differences(fromRecorded: recorded) == [])
            }
            var changed = bytes
            guard !changed.isEmpty, lines.count == 1 else { continue }
            changed[changed.count / 2] ^= 1
            #expect(try MatchFixture.live(changed, lines, rules) != fixture.facets(bytes, lines, rules), "\(name)")
        }
    }

    @Test func undevelopedBytesAreTheSame() throws {
        let fixture = try RecordedFixture()
        let bytes = CodingFixtures.gzip6
        // Creates the folder.
        _ = try fixture.body([UInt8](repeating: 0, count: 100_000), MatchFixture.binary)
        try fixture.folder.write([1, 2] + bytes, to: "tape.bodies/undeveloped.raw")
        let slice = RawSlice(
            path: "tape.bodies/undeveloped.raw", offset: 2, size: bytes.count, crc32: bytes.withUnsafeBytes { CRC32.value(of: $0) })
        let lines = MatchFixture.json + ["Content-Encoding: gzip"]
        let body = Body(size: bytes.count, content: .raw(slice))
        #expect(try fixture.facets(of: body, lines) == MatchFixture.live(bytes, lines))
    }

    @Test func noBodyHasNoFacets() throws {
        let fixture = try RecordedFixture()
        #expect(try fixture.facets(of: nil, MatchFixture.json) == .none)
        #expect(try fixture.facets(of: Body(size: 0, content: .empty), MatchFixture.json) == .none)
    }

    @Test func anEditedBodyCountsAsItIsNow() throws {
        let fixture = try RecordedFixture()
        var body = try #require(try fixture.body(CodingFixtures.gzip6, MatchFixture.json + ["Content-Encoding: gzip"]))
        body.content = .json(Array("{\"edited\":true}".utf8), style: .compact)
        #expect(
            try fixture.facets(of: body, MatchFixture.json + ["Content-Encoding: gzip"])
                == MatchFixture.live("{ \"edited\": true }", MatchFixture.json))
    }

    @Test func aMissingFileIsAnErrorWhereItMustBeRead() throws {
        let fixture = try RecordedFixture()
        let sidecar = Sidecar(
            path: "tape.bodies/\(String(repeating: "a", count: 64)).json", size: 1 << 30, sha256: String(repeating: "a", count: 64))
        let body = Body(size: 1 << 30, content: .file(sidecar))
        // The body claims a GiB: the digest is enough where bytes are compared.
        #expect(try fixture.facets(of: body, MatchFixture.json).facets.first?.size == 1 << 30)
        #expect(throws: CassetteError.self) { try fixture.facets(of: body, MatchFixture.json, .standard, .contents) }
        let small = Body(size: 9, content: .file(Sidecar(path: sidecar.path, size: 9, sha256: sidecar.sha256)))
        #expect(throws: CassetteError.self) { try fixture.facets(of: small, MatchFixture.json) }
    }
}

struct FacetCollectorTests {
    private func add(_ hash: UInt64, _ value: String = "v", to collector: inout FacetCollector) {
        Array(value.utf8).withUnsafeBytes { collector.add(hash, .json, name: Array("n".utf8), value: $0) }
    }

    @Test func theDigestDoesNotDependOnOrder() {
        var first = FacetCollector()
        var second = FacetCollector()
        for hash in [1, 2, 3] as [UInt64] { self.add(hash, to: &first) }
        for hash in [3, 1, 2] as [UInt64] { self.add(hash, to: &second) }
        #expect(first.facets(.json) == second.facets(.json))
        #expect(first.facets(.json) != first.facets(.form))
        self.add(0, to: &second)
        #expect(first.facets(.json) != second.facets(.json))
    }

    @Test func keepsSoManyAndCountsAll() {
        var collector = FacetCollector()
        for hash in 0..<UInt64(BodyFacets.facetLimit + 10) { self.add(hash, to: &collector) }
        #expect(collector.facets.count == BodyFacets.facetLimit)
        #expect(collector.count == BodyFacets.facetLimit + 10)
        #expect(!collector.isKeeping)
    }

    @Test func keepsSoManyBytes() {
        var collector = FacetCollector()
        let long = String(repeating: "x", count: BodyFacets.valueLimit + 1)
        for hash in 0..<UInt64(100) { self.add(hash, long, to: &collector) }
        #expect(collector.facets.first?.value.count == BodyFacets.valueLimit)
        #expect(collector.facets.first?.size == BodyFacets.valueLimit + 1)
        #expect(collector.facets.reduce(0) { $0 + $1.value.count } <= BodyFacets.keptLimit)
        #expect(collector.count == 100)
    }

    @Test func oneCanBeAddedToAnother() {
        var first = FacetCollector()
        var second = FacetCollector()
        var both = FacetCollector()
        self.add(1, to: &first)
        self.add(2, to: &second)
        for hash in [1, 2] as [UInt64] { self.add(hash, to: &both) }
        first.add(second)
        #expect(first.facets(.json) == both.facets(.json))
        #expect(first.facets == both.facets)
    }
}

struct FacetHashTests {
    private func path(_ parent: UInt64, _ name: String, _ ordinal: Int = 0) -> UInt64 {
        Array(name.utf8).withUnsafeBytes { FacetHash.path(parent, $0, ordinal: ordinal) }
    }

    private func value(_ path: UInt64, _ tag: FacetHash.Tag, _ value: String) -> UInt64 {
        Array(value.utf8).withUnsafeBytes { FacetHash.value(path, tag, $0) }
    }

    @Test func everythingInAHashCounts() {
        #expect(self.path(0, "a") == self.path(0, "a"))
        #expect(Set([self.path(0, "a"), self.path(1, "a"), self.path(0, "b"), self.path(0, "a", 1), self.path(0, "")]).count == 5)
        #expect(self.value(0, .string, "a") == self.value(0, .string, "a"))
        #expect(
            Set([self.value(0, .string, "1"), self.value(0, .number, "1"), self.value(1, .string, "1"), self.value(0, .string, "")]).count
                == 4)
    }
}
