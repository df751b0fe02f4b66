import Testing

@testable import CassetteModel
@testable import CassettePlayback

struct AWSChunksTests {
    private static let lines = [
        "Content-Type: application/json", "Content-Encoding: aws-chunked", "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    ]

    private static func body(_ chunks: [String], signature: String = "ab", trailer: String = "") -> String {
        (chunks + [""]).map { "\(String($0.utf8.count, radix: 16));chunk-signature=\(signature)\r\n\($0)\($0.isEmpty ? "" : "\r\n")" }
            .joined() + trailer + "\r\n"
    }

    @Test func thePayloadIsCompared() {
        let plain = MatchFixture.live("{\"a\":1}", MatchFixture.json)
        let one = MatchFixture.live(Self.body(["{\"a\":", "1}"]), Self.lines)
        #expect(one.kind == .json)
        #expect(one == plain)
        #expect(
            one == MatchFixture.live(Self.body(["{ \"a\": 1 }"], signature: "cd", trailer: "x-amz-checksum-crc32:AAAA==\r\n"), Self.lines))
        #expect(one != MatchFixture.live(Self.body(["{\"a\":2}"]), Self.lines))
        #expect(one == MatchFixture.live(Self.body(["{\"a\":1}"]), Array(Self.lines.dropFirst(0).filter { !$0.contains("Encoding") })))
        #expect(one == MatchFixture.live("7\r\n{\"a\":1}\r\n0\r\nx-amz-checksum-crc32:AAAA==\r\n\r\n", Self.lines))
    }

    @Test func cutsDoNotCount() {
        let bytes = Array(Self.body(["{\"a\":", "1}"]).utf8)
        let whole = MatchFixture.live(bytes, Self.lines)
        for cut in 1..<bytes.count { #expect(MatchFixture.live(bytes, Self.lines, cuts: [cut]) == whole) }
        #expect(MatchFixture.live(bytes, Self.lines, cuts: Array(1..<bytes.count)) == whole)
    }

    @Test(arguments: [
        "{\"a\":1}", "5\r\n{\"a\":", "zz\r\n", "7\r\n{\"a\":1}0\r\n\r\n", "7\n{\"a\":1}\r\n0\r\n\r\n", "ffffffffffffffffff\r\nx",
    ])
    func bodyWithoutValidChunksIsComparedAsSent(text: String) {
        #expect(MatchFixture.live(text, Self.lines).kind == .bytes)
        #expect(MatchFixture.live(text, Self.lines) != MatchFixture.live(text + " ", Self.lines))
    }

    @Test func otherCodingsAreDecodedToo() {
        let wire = CodingFixtures.gzip6
        let chunked =
            Array("\(String(wire.count, radix: 16));chunk-signature=a\r\n".utf8) + wire + Array("\r\n0;chunk-signature=b\r\n\r\n".utf8)
        let expected = MatchFixture.live(wire, MatchFixture.json + ["Content-Encoding: gzip"])
        #expect(expected.kind == .json)
        #expect(MatchFixture.live(chunked, MatchFixture.json + ["Content-Encoding: gzip, aws-chunked"]) == expected)
    }

    @Test func recordedBodiesAreReadAlike() throws {
        let fixture = try RecordedFixture()
        let long = Self.body([String(repeating: "x", count: 100_000)])
        for text in [Self.body(["{\"a\":1}"]), long, "{\"a\":1}"] {
            for lines in [
                Self.lines, ["Content-Type: application/octet-stream", "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER"],
            ] {
                #expect(try fixture.facets(Array(text.utf8), lines) == MatchFixture.live(text, lines))
            }
        }
    }
}
