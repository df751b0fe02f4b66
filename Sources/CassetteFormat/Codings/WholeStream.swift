#if LIBDEFLATE
internal import CDeflate
#endif
package import CassetteModel

/// One stream of deflate that lies in memory as a whole, decoded at once by libdeflate (docs/decisions/0061-libdeflate.md).
///
/// Takes what an `Inflater` takes without a word, and nothing else: a caller that gets nil asks that one, which knows what is wrong, has limits
/// to the byte, and goes on to further members. Always nil in a build without libdeflate.
package struct WholeStream {
    /// Decoded bytes up to which no limit but that of the output counts.
    private static let sizeLimit = InflateLimits.ratioFloor
    /// Bytes of content for one coded byte that are made room for, where the stream does not tell its length.
    private static let usualRatio = 8
    /// 258 bytes for two bits.
    private static let highestRatio = 1032
    private static let gzipTrailerSize = 8
    private static let zlibWrapperSize = 6

    package let content: [UInt8]
    let format: DeflateFormat
    /// Of gzip.
    let header: GzipHeader?

    /// Of a body with one coding.
    package init?(_ wire: [UInt8], _ names: [ContentEncoding.Name], limits: InflateLimits) {
        guard names.count == 1 else { return nil }
        switch names[0] {
        case .gzip: self.init(wire, .gzip, limits)
        case .deflate: self.init(wire, .zlib, limits)
        case .br, .zstd: return nil
        }
    }

    init?(_ wire: [UInt8], _ format: DeflateFormat, _ limits: InflateLimits) {
        let limit = min(limits.output, Self.sizeLimit)
        let decoded = wire.withUnsafeBytes { wire -> (content: [UInt8], header: GzipHeader?)? in
            switch format {
            case .gzip: Self.gzip(wire, limit)
            case .zlib: Self.zlib(wire, limit).map { ($0, nil) }
            // Nothing proves that such bytes are deflate, and where they end.
            case .raw: nil
            }
        }
        guard let decoded else { return nil }
        (self.content, self.header) = decoded
        self.format = format
    }

    #if LIBDEFLATE
    /// RFC 1952: the length of the content is in the trailer.
    private static func gzip(_ wire: UnsafeRawBufferPointer, _ limit: Int) -> (content: [UInt8], header: GzipHeader?)? {
        guard case .complete(let start) = GzipHeader.parse(wire), wire.count >= start + self.gzipTrailerSize else { return nil }
        let end = wire.count - self.gzipTrailerSize
        let trailer = UInt64(littleEndian: wire.loadUnaligned(fromByteOffset: end, as: UInt64.self))
        let size = Int(trailer >> 32)
        let blocks = UnsafeRawBufferPointer(rebasing: wire[start..<end])
        // No room is made for a length that so many bytes cannot have.
        guard size <= limit, size <= blocks.count * self.highestRatio else { return nil }
        let decoded = self.decoded(size) { decoder, output in
            var taken = 0
            // Without a place for the output's length it has to be this one.
            let result = libdeflate_deflate_decompress_ex(
                decoder, blocks.baseAddress, blocks.count, output.baseAddress, size, &taken, nil)
            return result == LIBDEFLATE_SUCCESS && taken == blocks.count ? size : nil
        }
        guard let content = decoded, libdeflate_crc32(0, content, content.count) == UInt32(truncatingIfNeeded: trailer) else {
            return nil
        }
        return (content, GzipHeader(bytes: Array(wire[..<start])))
    }

    /// RFC 1950: the length of the content is not told.
    private static func zlib(_ wire: UnsafeRawBufferPointer, _ limit: Int) -> [UInt8]? {
        guard wire.count > self.zlibWrapperSize else { return nil }
        return self.decoded(min(limit, wire.count * self.usualRatio)) { decoder, output in
            var (taken, size) = (0, 0)
            let result = libdeflate_zlib_decompress_ex(
                decoder, wire.baseAddress, wire.count, output.baseAddress, output.count, &taken, &size)
            return result == LIBDEFLATE_SUCCESS && taken == wire.count ? size : nil
        }
    }

    /// - Parameter decode: returns the bytes that it has written; nil if they are not all.
    private static func decoded(_ room: Int, _ decode: (OpaquePointer, UnsafeMutableBufferPointer<UInt8>) -> Int?) -> [UInt8]? {
        // Nil if out of memory.
        guard let decoder = libdeflate_alloc_decompressor() else { return nil }
        defer { libdeflate_free_decompressor(decoder) }
        var isWhole = false
        let content = [UInt8](unsafeUninitializedCapacity: room) { output, count in
            guard let size = decode(decoder, output) else { return }
            isWhole = true
            count = size
        }
        return isWhole ? content : nil
    }
    #else
    private static func gzip(_ wire: UnsafeRawBufferPointer, _ limit: Int) -> (content: [UInt8], header: GzipHeader?)? { nil }
    private static func zlib(_ wire: UnsafeRawBufferPointer, _ limit: Int) -> [UInt8]? { nil }
    #endif
}
