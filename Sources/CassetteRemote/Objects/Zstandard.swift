internal import CZstd
internal import CassetteModel

/// Compresses a cassette's text for a store, and unpacks it.
///
/// Holds a few megabytes of memory, whatever the size.
enum Zstandard {
    private static let level: Int32 = 3
    /// A reader refuses windows above 8 MiB, as HTTP does.
    private static let windowBits: Int32 = 23

    static func compress(_ source: LocalFile, into target: LocalFile) throws(StoreError) {
        guard let context = ZSTD_createCCtx() else { throw self.noMemory }
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, self.level)
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize * 4, alignment: 16)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize * 4, alignment: 16)
        defer {
            input.deallocate()
            output.deallocate()
        }
        var (offset, written) = (0, 0)
        while true {
            let count = try source.read(into: input, at: offset)
            offset += count
            let isLast = count < input.count
            var piece = ZSTD_inBuffer(src: input.baseAddress, size: count, pos: 0)
            while true {
                var room = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
                let left = ZSTD_compressStream2(context, &room, &piece, isLast ? ZSTD_e_end : ZSTD_e_continue)
                guard ZSTD_isError(left) == 0 else { throw self.noMemory }
                try target.write(UnsafeRawBufferPointer(rebasing: output[..<room.pos]), at: written)
                written += room.pos
                if isLast ? left == 0 : piece.pos == piece.size { break }
            }
            if isLast { return }
        }
    }

    /// - Parameter limit: more bytes than this are an error, whatever the compressed text says.
    /// - Returns: the number of bytes, and their SHA-256 in hex.
    static func unpack(_ source: LocalFile, into target: LocalFile, limit: Int) throws(StoreError) -> (size: Int, digest: [UInt8]) {
        guard let context = ZSTD_createDCtx(), let digest = DigestContext.sha256() else { throw self.noMemory }
        defer { ZSTD_freeDCtx(context) }
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, self.windowBits)
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize * 4, alignment: 16)
        defer {
            input.deallocate()
            output.deallocate()
        }
        var (offset, written) = (0, 0)
        var isBetweenFrames = false
        while true {
            let count = try source.read(into: input, at: offset)
            guard count > 0 else { break }
            offset += count
            var piece = ZSTD_inBuffer(src: input.baseAddress, size: count, pos: 0)
            var isFull = false
            while piece.pos < piece.size || isFull {
                var room = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
                let result = ZSTD_decompressStream(context, &room, &piece)
                guard ZSTD_isError(result) == 0 else {
                    throw StoreError(.damaged, "\"\(source.path)\" is not compressed by zstd, or is damaged.")
                }
                isBetweenFrames = result == 0
                // After the end of a frame, nothing is held back, and another call would begin the next one.
                isFull = !isBetweenFrames && room.pos == room.size
                guard written + room.pos <= limit else {
                    throw StoreError(
                        .damaged,
                        "\"\(source.path)\" unpacks to more than the \(limit) bytes that its manifest names: it was not unpacked any further."
                    )
                }
                let bytes = UnsafeRawBufferPointer(rebasing: output[..<room.pos])
                try target.write(bytes, at: written)
                digest.update(bytes)
                written += room.pos
            }
        }
        guard isBetweenFrames else { throw StoreError(.damaged, "\"\(source.path)\" is cut short.") }
        return (written, digest.finalize())
    }

    private static var noMemory: StoreError { StoreError(.unsupported, "out of memory for zstd: close other programs.") }
}
