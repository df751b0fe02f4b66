internal import CZlib

/// Compresses whole byte arrays with zlib.
///
/// Does not stream: the demo's bodies are small.
enum Deflater {
    /// The gzip format (RFC 1952).
    static func gzip(_ bytes: [UInt8]) throws(OriginError) -> [UInt8] {
        try self.deflate(bytes, windowBits: 15 + 16)
    }

    /// The zlib format (RFC 1950), which PNG wants.
    static func zlib(_ bytes: [UInt8]) throws(OriginError) -> [UInt8] {
        try self.deflate(bytes, windowBits: 15)
    }

    private static func deflate(_ bytes: [UInt8], windowBits: Int32) throws(OriginError) -> [UInt8] {
        var input = bytes
        var stream = z_stream()
        guard wiretape_deflateInit2(&stream, 6, windowBits, 8, Z_DEFAULT_STRATEGY) == Z_OK else {
            throw OriginError(message: "zlib could not start; is there memory left?")
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
        // Z_STREAM_END is the one good answer: the buffer has deflateBound's size.
        guard code == Z_STREAM_END else {
            throw OriginError(message: "zlib gave up with code \(code)")
        }
        output.removeLast(output.count - Int(stream.total_out))
        return output
    }
}
