#if CODINGS
internal import CZstd
#endif
package import CassetteModel

/// A body that was compressed with a dictionary (RFC 9842): another body, identified by its SHA-256 in the first bytes.
///
/// Decodes `dcz`. For `dcb`, libbrotli needs a function that was added in version 1.1.0, and many systems have an older one.
package struct DictionaryCoding {
    /// RFC 9842, 4 and 5: a magic number, followed by the hash.
    private static let magic: [(name: String, bytes: [UInt8])] = [
        ("dcb", [0xFF, 0x44, 0x43, 0x42]), ("dcz", [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0]),
    ]
    private static let hashSize = 32
    /// RFC 9842, 5: a window may have 8 MiB, or a quarter more than the dictionary.
    private static let windowBits: Int32 = 25

    package let name: String
    /// The hash of the dictionary.
    package let hash: [UInt8]
    private let frames: ArraySlice<UInt8>

    /// Nil for a body with other codings.
    package init?(_ wire: [UInt8], _ headers: HeaderFields) {
        guard let index = headers.firstIndex(of: "content-encoding") else { return nil }
        let word = String(decoding: headers.valueBytes(at: index), as: UTF8.self).lowercased()
        guard let magic = Self.magic.first(where: { $0.name == word }), wire.starts(with: magic.bytes),
            wire.count > magic.bytes.count + Self.hashSize
        else { return nil }
        self.name = magic.name
        self.hash = Array(wire[magic.bytes.count..<magic.bytes.count + Self.hashSize])
        self.frames = wire[(magic.bytes.count + Self.hashSize)...]
    }

    /// Nil if this build cannot decode it, or if it is damaged or too long.
    package func decoded(with dictionary: [UInt8], limits: InflateLimits = InflateLimits()) -> [UInt8]? {
        #if CODINGS
        guard self.name == "dcz", let state = ZSTD_createDCtx() else { return nil }
        defer { ZSTD_freeDCtx(state) }
        ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, Self.windowBits)
        return dictionary.withUnsafeBytes { dictionary in
            // A raw-content dictionary, as the RFC requires. Applies to one frame.
            guard ZSTD_isError(ZSTD_DCtx_refPrefix(state, dictionary.baseAddress, dictionary.count)) == 0 else { return nil }
            return self.frames.withUnsafeBytes { Self.decoded($0, state, limits) }
        }
        #else
        return nil
        #endif
    }

    #if CODINGS
    private static func decoded(_ frames: UnsafeRawBufferPointer, _ state: OpaquePointer, _ limits: InflateLimits) -> [UInt8]? {
        var content: [UInt8] = []
        var source = ZSTD_inBuffer(src: frames.baseAddress, size: frames.count, pos: 0)
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let (result, count, room) = piece.withUnsafeMutableBytes { buffer -> (Int, Int, Int) in
                var target = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
                let result = ZSTD_decompressStream(state, &target, &source)
                return (result, target.pos, buffer.count - target.pos)
            }
            guard ZSTD_isError(result) == 0 else { return nil }
            content += piece[..<count]
            guard limits.problem(produced: content.count, consumed: source.pos) == nil else { return nil }
            // 0 at the end of the frame.
            if result == 0 { return source.pos == source.size ? content : nil }
            guard source.pos < source.size || room == 0 else { return nil }
        }
    }
    #endif
}
