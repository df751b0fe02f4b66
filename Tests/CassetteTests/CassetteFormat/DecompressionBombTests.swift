import Testing

@testable import CassetteFormat
@testable import CassetteModel

/// Small bodies that claim to be huge, in every coding: they are kept as received, marked, and never held whole in memory or on disk.
struct DecompressionBombTests {
    private func decode(_ wire: [UInt8], _ lines: String..., sink: inout MemorySink) throws -> Body {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        return try decoder.decode(wire, headers: HeaderFields(lines), origin: "o", sink: &sink)
    }

    private func decode(_ wire: [UInt8], _ lines: String...) throws -> Body {
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        return try decoder.decode(wire, headers: HeaderFields(lines), origin: "o", sink: &sink)
    }

    @Test func aBombStaysAsItCameAndLeavesNoFileOfItsContent() throws {
        var sink = MemorySink()
        let wire = CodingFixtures.deflated([UInt8](repeating: 0, count: 8 << 20), DeflateParameters(level: 9), .gzip)
        let body = try self.decode(wire, "Content-Type: text/html", "Content-Encoding: gzip", sink: &sink)
        #expect(body.note?.contains("1000 times") == true)
        #expect(body.codings.isEmpty)
        #expect(sink.files.values.map(\.count) == [wire.count])
        #expect(sink.files.keys.first?.hasSuffix(".gz") == true)
    }

    @Test func aGibibyteOfZerosInAMebibyteEndsEarlyInConstantMemory() throws {
        let mebibyte = CodingFixtures.mebibyteOfZeros
        var largestRead = 0
        let source = ByteSource(size: mebibyte.count * 1024 + 2) { offset, buffer in
            largestRead = max(largestRead, buffer.count)
            let count = min(buffer.count, mebibyte.count - offset % mebibyte.count)
            let part = mebibyte[(offset % mebibyte.count)...].prefix(count)
            part.withUnsafeBytes { buffer.copyMemory(from: $0) }
            return count
        }
        var decoder = WireBodyDecoder(makeDigest: { TestDigest() })
        var sink = MemorySink()
        sink.keepsBytes = false
        let body = try decoder.decode(source, headers: HeaderFields(["Content-Encoding: deflate"]), origin: "o", sink: &sink)
        #expect(body.note?.contains("1000 times") == true)
        #expect(body.codings.isEmpty)
        #expect(sink.files.count == 1)
        #expect(largestRead <= ByteSource.pieceSize)
    }

    @Test func aBombWithinABombGoesOffNowhere() throws {
        let mebibytes = Array(repeating: CodingFixtures.mebibyteOfZeros, count: 256).joined() + [3, 0]
        let wire = CodingFixtures.deflated(Array(mebibytes), DeflateParameters(level: 9), .gzip)
        #expect(wire.count < 4096)
        var sink = MemorySink()
        let body = try self.decode(wire, "Content-Encoding: deflate, gzip", sink: &sink)
        #expect(body.codings.isEmpty)
        #expect(body.note?.hasPrefix("content coding \"deflate\" is not taken off: decoded body more than 1000 times") == true)
        #expect(body.content == .binary(wire) && sink.files.isEmpty)
    }

    #if CODINGS
    @Test func aGibibyteOfZerosInBrotliIsMarked() throws {
        let body = try self.decode(CodingFixtures.brotliBomb, "Content-Encoding: br")
        #expect(body.content == .binary(CodingFixtures.brotliBomb))
        #expect(body.note?.contains("1000 times") == true)
    }
    #endif

    #if CODINGS
    @Test func aGibibyteOfZerosInZstdIsMarked() throws {
        var sink = MemorySink()
        let wire = CodingFixtures.zstdZeros(mebibytes: 1024)
        let body = try self.decode(wire, "Content-Encoding: zstd", sink: &sink)
        #expect(sink.files.values.map(\.count) == [wire.count])
        #expect(body.note?.contains("1000 times") == true)
    }
    #endif
}
