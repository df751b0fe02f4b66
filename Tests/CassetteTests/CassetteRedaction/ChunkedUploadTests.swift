import CassetteFormat
import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteRedaction

/// Uploads to S3 in `aws-chunked` coding.
@Suite struct ChunkedUploadTests {
    private static let json = Array(#"{"user":"bori","password":"Zq9c94Kx5cce1234","a":1}"#.utf8)
    private static let redacted = Array(#"{"user":"bori","password":"{{password:1}}","a":1}"#.utf8)

    private func chunked(_ payload: [UInt8], sizes: [Int], trailer: [String] = []) -> [UInt8] {
        var (wire, rest) = ([UInt8](), payload[...])
        for size in sizes + [payload.count] where !rest.isEmpty {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            wire += Array("\(String(piece.count, radix: 16));chunk-signature=0a1b\r\n".utf8) + piece + [13, 10]
        }
        return wire + Array("0;chunk-signature=ffff\r\n\(trailer.map { $0 + "\r\n" }.joined())\r\n".utf8)
    }

    private func lines(_ payload: [UInt8], _ wire: [UInt8], coding: String = "aws-chunked") -> [String] {
        [
            "Content-Type: application/json", "Content-Encoding: \(coding)", "x-amz-decoded-content-length: \(payload.count)",
            "Content-Length: \(wire.count)",
        ]
    }

    private func redact(_ wire: [UInt8], _ lines: [String], isComplete: Bool = true) -> (body: [UInt8], lines: [String], notes: [String]) {
        var request = RecordedRequest(method: "PUT", url: "http://s3.test/a", headers: HeaderFields(lines))
        var body: WireBody? = WireBody(wire, isComplete: isComplete)
        let outcome = Redactor().redact(request: &request, body: &body)
        return (body?.bytes ?? [], request.headers.lines, outcome.notes)
    }

    private func crc32(_ bytes: [UInt8]) -> String {
        String(decoding: SecretCorpus.base64(BodyChecksum.crc32.value(of: bytes)), as: UTF8.self)
    }

    /// The payload; nil if the coding is broken.
    private func payload(_ wire: [UInt8], _ lines: [String]) -> [UInt8]? {
        ChunkedUpload(wire, HeaderFields(lines), isComplete: true)?.payload
    }

    @Test func aSecretThatChunksDivideIsReplacedInThePayload() {
        let wire = self.chunked(
            Self.json, sizes: [30, 4, 5], trailer: ["x-amz-checksum-crc32:\(self.crc32(Self.json))", "x-amz-trailer-signature:00"])
        let found = self.redact(wire, self.lines(Self.json, wire))
        #expect(self.payload(found.body, found.lines) == Self.redacted)
        #expect(found.lines == self.lines(Self.redacted, found.body))
        #expect(found.notes == [])
        let text = String(decoding: found.body, as: UTF8.self)
        #expect(
            text.hasSuffix(
                "0;chunk-signature=ffff\r\nx-amz-checksum-crc32:\(self.crc32(Self.redacted))\r\nx-amz-trailer-signature:00\r\n\r\n"))
        #expect(text.hasPrefix("29;chunk-signature=0a1b\r\n{\"user\""))
    }

    /// Wherever the chunks end, the payload is redacted as it is without chunks.
    @Test func anyChunksGiveTheSamePayload() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let sizes = (0..<Int.random(in: 0...8, using: &random)).map { _ in Int.random(in: 1...20, using: &random) }
            let wire = self.chunked(Self.json, sizes: sizes)
            let found = self.redact(wire, self.lines(Self.json, wire))
            #expect(self.payload(found.body, found.lines) == Self.redacted, "\(sizes)")
            #expect(found.lines == self.lines(Self.redacted, found.body), "\(sizes)")
        }
    }

    @Test(arguments: ["gzip, aws-chunked", "aws-chunked,gzip"]) func thePayloadMayBeCoded(coding: String) throws {
        let payload = RedactionFixtures.gzip(Self.json)
        let wire = self.chunked(payload, sizes: [11, 20])
        let found = self.redact(wire, self.lines(payload, wire, coding: coding))
        let new = try #require(self.payload(found.body, found.lines))
        var text: [UInt8] = []
        let chain = try #require(DecoderChain([.gzip], limits: .search(codedSize: new.count)))
        #expect(try new.withUnsafeBytes { try chain.push($0) { text.append(contentsOf: $0) } } && chain.finish())
        #expect(text == Self.redacted)
        #expect(found.lines == self.lines(new, found.body, coding: coding))
        #expect(found.notes == [])
    }

    @Test func anUploadWithoutSecretsStaysAndIsSearched() {
        let payload = Array("a text without secrets".utf8)
        let wire = self.chunked(payload, sizes: [3, 4])
        let found = self.redact(wire, self.lines(payload, wire))
        #expect(found.body == wire && found.notes == [])
    }

    @Test func anUploadThatWasCutKeepsTheAnnouncedRest() {
        let wire = Array(self.chunked(Self.json, sizes: [46]).dropLast(40))
        let found = self.redact(wire, self.lines(Self.json, wire), isComplete: false)
        let text = String(decoding: found.body, as: UTF8.self)
        #expect(
            !text.contains("Zq9c94") && text.hasPrefix("2c;chunk-signature=0a1b\r\n{\"user\":\"bori\",\"password\":\"{{password:1}}\""),
            "\(text)")
    }

    @Test func brokenChunksAreNotTakenForAnUpload() {
        let wire = Array("zz;chunk-signature=0\r\n{}\r\n0\r\n\r\n".utf8)
        #expect(ChunkedUpload(wire, HeaderFields(["Content-Encoding: aws-chunked"]), isComplete: true) == nil)
        #expect(self.redact(wire, ["Content-Encoding: aws-chunked"]).notes != [])
    }
}
