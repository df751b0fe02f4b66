#if CODINGS
internal import CZstd

/// Decodes the content coding zstd (RFC 8878), treating all frames as one content. Bytes after them are not touched.
///
/// Does not support dictionaries, and refuses windows above the 8 MiB that HTTP allows (RFC 9659).
final class ZstandardDecoder: CodingDecoder {
    /// RFC 9659, 3
    private static let windowBits: Int32 = 23
    /// The size of a frame's magic number.
    private static let magicSize = 4

    private(set) var status: InflateStatus = .needsMore
    private(set) var consumed = 0
    private(set) var produced = 0

    private let state: OpaquePointer?
    private let output: UnsafeMutableRawPointer
    private let limits: InflateLimits
    /// The start of the current frame, after complete frames.
    private var frameStart = 0
    private var isInFrame = false

    init(limits: InflateLimits = InflateLimits()) {
        self.state = ZSTD_createDCtx()
        self.output = .allocate(byteCount: Inflater.pieceSize, alignment: 16)
        self.limits = limits
        if let state = self.state {
            ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, Self.windowBits)
        } else {
            self.fail(.outOfMemory, "out of memory for zstd")
        }
    }

    deinit {
        ZSTD_freeDCtx(self.state)
        self.output.deallocate()
    }

    @discardableResult
    func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows -> InflateStatus {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var isFull = false
        while self.status == .needsMore, source.pos < source.size || isFull {
            var target = ZSTD_outBuffer(dst: self.output, size: Inflater.pieceSize, pos: 0)
            let before = source.pos
            self.isInFrame = true
            // 0 at the end of a frame, an error, or a hint how many bytes to pass next.
            let result = ZSTD_decompressStream(self.state, &target, &source)
            self.consumed += source.pos - before
            isFull = target.pos == target.size
            try self.hand(over: target.pos, deliver)
            guard self.status == .needsMore else { break }
            if ZSTD_isError(result) != 0 {
                self.failed(result)
            } else if result == 0 {
                self.frameStart = self.consumed
                self.isInFrame = false
                isFull = false
            } else if source.pos == before, target.pos == 0 {
                break
            }
        }
        return self.status
    }

    @discardableResult
    func finish() -> InflateStatus {
        guard self.status == .needsMore else { return self.status }
        if self.frameStart > 0, !self.isInFrame || self.consumed - self.frameStart < Self.magicSize {
            self.end()
        } else {
            self.fail(.truncated, "zstd stream cut short")
        }
        return self.status
    }

    /// The bytes after the last complete frame do not belong to the coding.
    private func end() {
        self.consumed = self.frameStart
        self.status = .ended
    }

    private func failed(_ result: Int) {
        switch ZSTD_getErrorCode(result) {
        case ZSTD_error_prefix_unknown where self.frameStart > 0: self.end()
        case ZSTD_error_checksum_wrong: self.fail(.wrongChecksum, "wrong zstd checksum")
        case ZSTD_error_frameParameter_windowTooLarge: self.fail(.unsupported, "zstd window above 8 MiB")
        case ZSTD_error_dictionary_wrong: self.fail(.unsupported, "zstd dictionary required")
        case ZSTD_error_memory_allocation: self.fail(.outOfMemory, "out of memory for zstd")
        default:
            let reason = ZSTD_getErrorName(result).map { String(cString: $0) } ?? "unknown"
            self.fail(.corrupt, "corrupt zstd stream (\(reason))")
        }
    }

    private func fail(_ kind: InflateProblem.Kind, _ reason: String) {
        self.status = .failed(InflateProblem(kind, offset: self.consumed, reason: reason))
    }

    private func hand(over count: Int, _ deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        guard count > 0 else { return }
        if let problem = self.limits.problem(produced: self.produced + count, consumed: self.consumed) {
            self.status = .failed(problem)
            return
        }
        self.produced += count
        try deliver(UnsafeRawBufferPointer(start: self.output, count: count))
    }
}
#endif
