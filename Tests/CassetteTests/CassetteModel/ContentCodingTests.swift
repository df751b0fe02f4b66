@testable import CassetteFormat
@testable import CassetteModel
import Testing

struct ContentEncodingTests {
    private func encoding(_ lines: String...) -> ContentEncoding { ContentEncoding(HeaderFields(lines)) }

    @Test func soleCodingsAreKnown() {
        #expect(self.encoding("Content-Encoding: gzip") == .coded([.gzip]))
        #expect(self.encoding("content-encoding:X-GZip ") == .coded([.gzip]))
        #expect(self.encoding("Content-Encoding: deflate") == .coded([.deflate]))
        #expect(self.encoding("Content-Type: gzip") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: ") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: identity, ,") == ContentEncoding.none)
        #expect(self.encoding("Content-Encoding: identity", "Content-Encoding: gzip") == .coded([.gzip]))
    }

    @Test func severalCodingsAreListedInTheOrderApplied() {
        #expect(self.encoding("Content-Encoding: gzip, identity, deflate") == .coded([.gzip, .deflate]))
        #expect(self.encoding("Content-Encoding: deflate", "Content-Encoding: x-gzip") == .coded([.deflate, .gzip]))
    }

    @Test func aListWithAnUnknownCodingIsOneClaim() {
        #expect(self.encoding("Content-Encoding: gzip, Foo") == .other("gzip, foo"))
        #expect(self.encoding("Content-Encoding: compress", "Content-Encoding: gzip") == .other("compress, gzip"))
        #expect(self.encoding("Content-Encoding: exi").fileExtension == nil)
    }

    @Test(arguments: [ContentEncoding.Name.br, .zstd])
    func codingThatTheBuildLacksKeepsItsName(name: ContentEncoding.Name) {
        let encoding = self.encoding("Content-Encoding: \(name.rawValue)")
        #expect(encoding == (name.isSupported ? .coded([name]) : .other(name.rawValue)))
        #expect(encoding.fileExtension == (name == .br ? "br" : "zst"))
    }

    @Test func moreCodingsThanAnyoneAppliesAreNotDecoded() {
        let names = Array(repeating: "gzip", count: ContentEncoding.limit + 1).joined(separator: ", ")
        #expect(self.encoding("Content-Encoding: \(names)") == .other(String(names.prefix(64))))
        #expect(self.encoding("Content-Encoding: \(names.dropLast(6))") == .coded(Array(repeating: .gzip, count: 8)))
    }

    @Test func anEndlessListStaysPrintable() {
        let hostile = "Content-Encoding: \u{1b}[2J" + String(repeating: "x\u{e9},", count: 50_000)
        guard case .other(let names) = self.encoding(hostile) else { return #expect(Bool(false)) }
        #expect(names.utf8.count <= 80)
        #expect(names.utf8.allSatisfy { $0 >= 32 && $0 < 127 })
    }
}

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

    @Test func invalidGzipHeaderIsRefusedAtItsFirstWrongByte() {
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
