#if LIBDEFLATE
internal import CDeflate
#endif
package import CassetteModel

/// A deflate stream that is completely in memory, decoded at once by libdeflate (docs/decisions/0061-libdeflate.md).
///
/// Accepts only streams that an `Inflater` decodes without a problem. A caller that gets nil uses that one instead, which reports problems,
/// applies exact limits, and continues with further members. Always nil in a build without libdeflate.
package struct WholeStream {
    /// Up to this many decoded bytes, only the output limit applies.
    private static let sizeLimit = InflateLimits.ratioFloor
    /// How many content bytes are allocated per coded byte if the stream does not contain its length.
    private static let usualRatio = 8
    /// 258 bytes for two bits.
    private static let highestRatio = 1032
    private static let gzipTrailerSize = 8
    private static let zlibWrapperSize = 6

    package let content: [UInt8]
    let format: DeflateFormat
    /// The header of a gzip stream.
    let header: GzipHeader?

    /// For a body with one coding.
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
    /// RFC 1952: the trailer contains the length of the content.
    private static func gzip(_ wire: UnsafeRawBufferPointer, _ limit: Int) -> (content: [UInt8], header: GzipHeader?)? {
        guard case .complete(let start) = GzipHeader.parse(wire), wire.count >= start + self.gzipTrailerSize else { return nil }
        let end = wire.count - self.gzipTrailerSize
        let trailer = UInt64(littleEndian: wire.loadUnaligned(fromByteOffset: end, as: UInt64.self))
        let size = Int(trailer >> 32)
        let blocks = UnsafeRawBufferPointer(rebasing: wire[start..<end])
        // Does not allocate memory for a length that this many bytes cannot produce.
        guard size <= limit, size <= blocks.count * self.highestRatio else { return nil }
        let decoded = self.decoded(size) { decoder, output in
            var taken = 0
            // Without a pointer for the actual length, the output must have exactly this size.
            let result = libdeflate_deflate_decompress_ex(
                decoder, blocks.baseAddress, blocks.count, output.baseAddress, size, &taken, nil)
            return result == LIBDEFLATE_SUCCESS && taken == blocks.count ? size : nil
        }
        guard let content = decoded, libdeflate_crc32(0, content, content.count) == UInt32(truncatingIfNeeded: trailer) else {
            return nil
        }
        return (content, GzipHeader(bytes: Array(wire[..<start])))
    }

    /// RFC 1950: the length of the content is unknown.
    private static func zlib(_ wire: UnsafeRawBufferPointer, _ limit: Int) -> [UInt8]? {
        guard wire.count > self.zlibWrapperSize else { return nil }
        return self.decoded(min(limit, wire.count * self.usualRatio)) { decoder, output in
            var (taken, size) = (0, 0)
            let result = libdeflate_zlib_decompress_ex(
                decoder, wire.baseAddress, wire.count, output.baseAddress, output.count, &taken, &size)
            return result == LIBDEFLATE_SUCCESS && taken == wire.count ? size : nil
        }
    }

    /// - Parameter decode: returns the number of bytes written; nil if the content is incomplete.
    private static func decoded(_ room: Int, _ decode: (OpaquePointer, UnsafeMutableBufferPointer<UInt8>) -> Int?) -> [UInt8]? {
        // Nil if memory cannot be allocated.
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
