import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import CassettePlayback
@testable import TapeBytes

struct BodyFacetsRecordedTests {
    /// Bodies of every form a cassette has.
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

    /// With a part in a file, one in base64, and parts within parts.
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
        // Makes the folder.
        _ = try fixture.body([UInt8](repeating: 0, count: 100_000), MatchFixture.binary)
        try fixture.folder.write([1, 2] + bytes, to: "tape.bodies/undeveloped.raw")
        let slice = RawSlice(
            path: "tape.bodies/undeveloped.raw", offset: 2, size: bytes.count, crc32: bytes.withUnsafeBytes { CRC32.value(of: $0) })
        let lines = MatchFixture.json + ["Content-Encoding: gzip"]
        let body = Body(size: bytes.count, content: .raw(slice))
        #expect(try fixture.facets(of: body, lines) == MatchFixture.live(bytes, lines))
    }

    @Test func noBodyIsNone() throws {
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
        // A GiB is claimed: the digest is enough where bytes are compared.
        #expect(try fixture.facets(of: body, MatchFixture.json).facets.first?.size == 1 << 30)
        #expect(throws: CassetteError.self) { try fixture.facets(of: body, MatchFixture.json, .standard, .contents) }
        let small = Body(size: 9, content: .file(Sidecar(path: sidecar.path, size: 9, sha256: sidecar.sha256)))
        #expect(throws: CassetteError.self) { try fixture.facets(of: small, MatchFixture.json) }
    }
}
