import Testing

@testable import CassetteFormat
@testable import CassetteModel

struct GzipHeaderParsingTests {
    private func parse(_ bytes: [UInt8]) -> GzipHeader.Parse { bytes.withUnsafeBytes(GzipHeader.parse) }

    /// All optional fields: FEXTRA of 3 with a zero at its end, FNAME, FCOMMENT, FHCRC (computed by Python's `zlib.crc32(…) & 0xffff`).
    private static let full: [UInt8] =
        [0x1f, 0x8b, 8, 0x1e, 1, 2, 3, 4, 2, 3, 3, 0, 9, 8, 0] + Array("a.txt\0".utf8) + Array("why\0".utf8) + [0x8e, 0x7d]

    @Test func optionalFieldsBelongToTheHeader() {
        #expect(self.parse(Self.full + [1, 2, 3]) == .complete(length: Self.full.count))
        for length in 0..<Self.full.count { #expect(self.parse(Array(Self.full.prefix(length))) == .needsMore) }
    }

    @Test func aWrongHeaderChecksumIsReported() {
        var bytes = Self.full
        bytes[16] ^= 1
        guard case .invalid(let problem) = self.parse(bytes) else { return #expect(Bool(false)) }
        #expect(problem.kind == .wrongChecksum)
    }

    @Test func whatIsNotGzipIsRefusedAtTheByteInDoubt() {
        let cases: [([UInt8], Int)] = [([0x1e], 0), ([0x1f, 0x8c], 1), ([0x1f, 0x8b, 7], 2), ([0x1f, 0x8b, 8, 0x20], 3)]
        for (bytes, offset) in cases {
            guard case .invalid(let problem) = self.parse(bytes) else { return #expect(Bool(false)) }
            #expect(problem.offset == offset)
        }
    }

    @Test func anEndlessNameIsRefused() {
        let bytes: [UInt8] = [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 65, count: 5000)
        guard case .invalid(let problem) = self.parse(bytes) else { return #expect(Bool(false)) }
        #expect(problem.kind == .unsupported)
        #expect(self.parse(Array(bytes.prefix(GzipHeader.sizeLimit - 1))) == .needsMore)
    }

    @Test func thePlainHeaderIsWhole() {
        #expect(self.parse(GzipHeader.plain.bytes) == .complete(length: 10))
        #expect(GzipHeader.plain.extraFlags == 0)
    }
}
