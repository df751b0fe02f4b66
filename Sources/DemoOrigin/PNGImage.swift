internal import CZlib

/// A small RGB picture of coloured noise, encoded as PNG (RFC 2083).
///
/// Noise hardly compresses, so the file is about as large as its pixels.
struct PNGImage: Sendable {
    var width: Int
    var height: Int
    var seed: UInt64

    func bytes() throws(OriginError) -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        // Eight bits per sample, colour type RGB, and the only methods that exist.
        self.append("IHDR", Self.bigEndian(self.width) + Self.bigEndian(self.height) + [8, 2, 0, 0, 0], to: &file)
        self.append("IDAT", try Deflater.zlib(self.scanlines()), to: &file)
        self.append("IEND", [], to: &file)
        return file
    }

    private func scanlines() -> [UInt8] {
        var state = self.seed | 1
        var lines: [UInt8] = []
        lines.reserveCapacity(self.height * (1 + 3 * self.width))
        for _ in 0..<self.height {
            lines.append(0)  // no filter
            for _ in 0..<3 * self.width {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                lines.append(UInt8(truncatingIfNeeded: state >> 24))
            }
        }
        return lines
    }

    private func append(_ type: String, _ content: [UInt8], to file: inout [UInt8]) {
        let checked = Array(type.utf8) + content
        file += Self.bigEndian(content.count)
        file += checked
        file += Self.bigEndian(Int(crc32(0, checked, uInt(checked.count))))
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// Compresses byte arrays with zlib. Each is compressed as a whole, because the demo's bodies are small.
enum Deflater {
    /// The gzip format (RFC 1952).
    static func gzip(_ bytes: [UInt8]) throws(OriginError) -> [UInt8] {
        try self.deflate(bytes, windowBits: 15 + 16)
    }

    /// The zlib format (RFC 1950), which PNG uses.
    static func zlib(_ bytes: [UInt8]) throws(OriginError) -> [UInt8] {
        try self.deflate(bytes, windowBits: 15)
    }

    private static func deflate(_ bytes: [UInt8], windowBits: Int32) throws(OriginError) -> [UInt8] {
        var input = bytes
        var stream = z_stream()
        guard wiretape_deflateInit2(&stream, 6, windowBits, 8, Z_DEFAULT_STRATEGY) == Z_OK else {
            throw OriginError(message: "zlib could not start; is there enough memory?")
        }
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(input.count))))
        // SAFETY: both pointers are used inside the closures only, with the lengths of their buffers.
        let code = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = uInt(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = uInt(target.count)
                return CZlib.deflate(&stream, Z_FINISH)
            }
        }
        // Z_STREAM_END is the only success, because the buffer has the size of deflateBound.
        guard code == Z_STREAM_END else {
            throw OriginError(message: "zlib failed with code \(code)")
        }
        output.removeLast(output.count - Int(stream.total_out))
        return output
    }
}
