#if CODINGS
internal import CBrotli

/// Decodes the content coding br (RFC 7932): a single stream; bytes after it are not touched.
///
/// Uses a window of at most 16 MiB, as the format specifies. Larger ones of brotli's own extension are refused.
final class BrotliDecoder: CodingDecoder {
    private(set) var status: InflateStatus = .needsMore
    private(set) var consumed = 0
    private(set) var produced = 0

    private let state: OpaquePointer?
    private let output: UnsafeMutablePointer<UInt8>
    private let limits: InflateLimits

    init(limits: InflateLimits = InflateLimits()) {
        self.state = BrotliDecoderCreateInstance(nil, nil, nil)
        self.output = .allocate(capacity: Inflater.pieceSize)
        self.limits = limits
        if self.state == nil { self.fail(.outOfMemory, "out of memory for brotli") }
    }

    deinit {
        if let state = self.state { BrotliDecoderDestroyInstance(state) }
        self.output.deallocate()
    }

    @discardableResult
    func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows -> InflateStatus {
        var next = input.bindMemory(to: UInt8.self).baseAddress
        var left = input.count
        while self.status == .needsMore, left > 0 {
            let before = left
            var result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
            repeat {
                var room = Inflater.pieceSize
                var place: UnsafeMutablePointer<UInt8>? = self.output
                let start = left
                result = BrotliDecoderDecompressStream(self.state, &left, &next, &room, &place, nil)
                self.consumed += start - left
                try self.hand(over: Inflater.pieceSize - room, deliver)
            } while result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && self.status == .needsMore
            guard self.status == .needsMore else { break }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS: self.status = .ended
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: if left == before { return self.status }
            default: self.failed()  // BROTLI_DECODER_RESULT_ERROR
            }
        }
        return self.status
    }

    @discardableResult
    func finish() -> InflateStatus {
        if self.status == .needsMore { self.fail(.truncated, "br stream cut short") }
        return self.status
    }

    private func failed() {
        let code = BrotliDecoderGetErrorCode(self.state)
        let isMemory = (-30 ... -21).contains(code.rawValue)  // BROTLI_DECODER_ERROR_ALLOC_…
        if isMemory { return self.fail(.outOfMemory, "out of memory for brotli") }
        // For example "PADDING_1"; newer versions prepend the prefix of the constant's name.
        let name = BrotliDecoderErrorString(code).map { String(cString: $0) } ?? ""
        let prefix = "_ERROR_FORMAT_"
        let reason = name.isEmpty ? "code \(code.rawValue)" : name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        self.fail(.corrupt, "corrupt br stream (\(reason))")
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
