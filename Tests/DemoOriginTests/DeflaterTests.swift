import CZlib
import Testing

@testable import DemoOrigin

struct DeflaterTests {
    /// Undoes either format: 32 tells zlib to look at the header.
    static func inflated(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        var input = bytes
        var output = [UInt8](repeating: 0, count: limit)
        var stream = z_stream()
        guard wiretape_inflateInit2(&stream, 15 + 32) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        // SAFETY: both pointers are used inside the closures only, with the lengths of their buffers.
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
