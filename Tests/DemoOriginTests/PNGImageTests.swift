import CZlib
@testable import DemoOrigin
import Testing

struct PNGImageTests {
    struct Chunk {
        var type: String
        var content: [UInt8]
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    static func chunks(_ file: [UInt8]) throws -> [Chunk] {
        var rest = file[...]
        #expect(rest.prefix(8) == [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        rest = rest.dropFirst(8)
        var chunks: [Chunk] = []
        while rest.count >= 12 {
            let length = self.number(rest.prefix(4))
            try #require(rest.count >= 12 + length)
            let checked = Array(rest.dropFirst(4).prefix(4 + length))
            #expect(self.number(rest.dropFirst(8 + length).prefix(4)) == Int(crc32(0, checked, uInt(checked.count))))
            chunks.append(Chunk(type: String(decoding: checked.prefix(4), as: UTF8.self), content: Array(checked.dropFirst(4))))
            rest = rest.dropFirst(12 + length)
        }
        #expect(rest.isEmpty)
        return chunks
    }

    @Test func chunksAreWholeAndPixelsFillTheFrame() throws {
        let chunks = try Self.chunks(try PNGImage(width: 5, height: 3, seed: 1).bytes())
        #expect(chunks.map(\.type) == ["IHDR", "IDAT", "IEND"])
        #expect(chunks[0].content == [0, 0, 0, 5, 0, 0, 0, 3, 8, 2, 0, 0, 0])
        let lines = try #require(DeflaterTests.inflated(chunks[1].content, limit: 1000))
        #expect(lines.count == 3 * (1 + 5 * 3))
        #expect([0, 16, 32].allSatisfy { lines[$0] == 0 })
    }

    @Test func sameSeedGivesTheSameFile() throws {
        let one = try PNGImage(width: 8, height: 8, seed: 5).bytes()
        #expect(try PNGImage(width: 8, height: 8, seed: 5).bytes() == one)
        #expect(try PNGImage(width: 8, height: 8, seed: 6).bytes() != one)
    }
}

struct DeflaterTests {
    /// Inflates both formats: 32 makes zlib detect the header.
    static func inflated(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        var input = bytes
        var output = [UInt8](repeating: 0, count: limit)
        var stream = z_stream()
        guard wiretape_inflateInit2(&stream, 15 + 32) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        // SAFETY: both pointers are used only inside the closures, with the lengths of their buffers.
        let code = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = uInt(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = uInt(target.count)
                return inflate(&stream, Z_FINISH)
            }
        }
        return code == Z_STREAM_END ? Array(output.prefix(Int(stream.total_out))) : nil
    }

    @Test(arguments: [0, 1, 1000, 200_000])
    func bothFormatsGiveBackWhatWentIn(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        #expect(Self.inflated(try Deflater.gzip(bytes), limit: count + 1) == bytes)
        #expect(Self.inflated(try Deflater.zlib(bytes), limit: count + 1) == bytes)
    }

    @Test func gzipStartsWithItsMagicNumber() throws {
        #expect(try Deflater.gzip([1, 2, 3]).starts(with: [0x1f, 0x8b, 0x08]))
    }
}
