internal import CZlib

/// Decodes messages that share one raw deflate stream (RFC 1951) and end with a flush whose last four bytes are not sent (RFC 7692, 7.2).
///
/// Takes pieces of any size, delivers pieces of decoded bytes, and keeps only the window. Has no limits; `deliver` decides when to stop.
package struct MessageInflater: ~Copyable {
    /// Why a stream cannot be decoded further.
    package enum Failure: Sendable, Hashable {
        /// The bytes are not deflate, or refer to data before the window.
        case corrupt(String)
        case outOfMemory
        /// `deliver` returned false.
        case stopped
    }

    /// The most decoded bytes delivered at once.
    package static let pieceSize = 16 << 10
    /// What a sender omits: the rest of the empty stored block that the flush began (RFC 7692, 7.2.1).
    private static let tail: [UInt8] = [0, 0, 0xff, 0xff]

    /// Why decoding failed; nil while it works. After a failure, later messages that share the window cannot be decoded.
    package private(set) var failure: Failure?

    private let windowBits: Int32
    private let keepsWindow: Bool
    /// zlib's state contains a pointer to this, so it must not move. Nil between messages that share no window, and while packed.
    private var stream: UnsafeMutablePointer<z_stream>?
    /// The window's bytes while packed.
    private var packed: [UInt8] = []
    /// Whether the last block was marked as the last of its stream.
    private var hasEnded = false
    private var isInMessage = false

    /// - Parameters:
    ///   - windowBits: 8 to 15; the sender refers back at most 2 to the power of this.
    ///   - keepsWindow: whether a message may refer back to earlier messages.
    package init(windowBits: Int, keepsWindow: Bool) {
        // zlib accepts 8 for decoding as well, but its own encoder writes 9 when asked for 8.
        self.windowBits = Int32(min(max(windowBits, 9), 15))
        self.keepsWindow = keepsWindow
    }

    deinit { Self.close(self.stream) }

    private static func close(_ stream: UnsafeMutablePointer<z_stream>?) {
        guard let stream else { return }
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decodes the next bytes of a message. Does nothing after a failure.
    package mutating func push(_ input: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) -> Bool) {
        guard self.failure == nil, !input.isEmpty, self.open(), let stream = self.stream else { return }
        self.isInMessage = true
        withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) { output in
            var rest = input
            while self.failure == nil, !rest.isEmpty {
                // zlib counts in 32 bits.
                let length = min(rest.count, 1 << 30)
                stream.pointee.next_in = UnsafeMutablePointer(mutating: rest.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(length)
                self.inflate(stream, output, deliver)
                rest = UnsafeRawBufferPointer(rebasing: rest[length...])
            }
        }
    }

    private mutating func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, _ output: UnsafeMutableRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Bool
    ) {
        repeat {
            // RFC 7692, 7.2.3.4: a sender may end its stream and begin another one with the same window.
            if self.hasEnded {
                guard stream.pointee.avail_in > 0 else { return }
                inflateResetKeep(stream)
                self.hasEnded = false
            }
            stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let code = CZlib.inflate(stream, Z_NO_FLUSH)
            let count = output.count - Int(stream.pointee.avail_out)
            if count > 0, !deliver(UnsafeRawBufferPointer(rebasing: output[..<count])) { return self.fail(.stopped) }
            switch code {
            case Z_OK, Z_BUF_ERROR: break  // Z_BUF_ERROR: nothing to do without more input
            case Z_STREAM_END: self.hasEnded = true
            case Z_MEM_ERROR: return self.fail(.outOfMemory)
            default:  // Z_DATA_ERROR, Z_STREAM_ERROR, Z_NEED_DICT
                return self.fail(.corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "corrupt deflate stream"))
            }
        } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
    }

    /// Completes a message: delivers what its last block still holds.
    package mutating func messageEnded(deliver: (UnsafeRawBufferPointer) -> Bool) {
        // A message without bytes has no flush to complete. Nor does one whose sender ended its stream without beginning another.
        if self.isInMessage, !self.hasEnded { Self.tail.withUnsafeBytes { self.push($0, deliver: deliver) } }
        self.isInMessage = false
        if self.failure == nil, self.stream != nil, !self.isAfterBlock { self.fail(.corrupt("message ends within a block")) }
        if !self.keepsWindow, self.failure == nil { self.forget() }
    }

    /// zlib.h: `data_type` contains 128 after a block, 64 within the last block, and the number of unused bits.
    private var isAfterBlock: Bool { self.hasEnded || self.stream.map { $0.pointee.data_type & 0xff == 128 } ?? true }

    /// Makes a failed decoder usable again, if messages do not refer back to others.
    package mutating func forget() {
        Self.close(self.stream)
        self.stream = nil
        self.packed = []
        self.hasEnded = false
        self.isInMessage = false
        if !self.keepsWindow { self.failure = nil }
    }

    /// Frees zlib's memory and keeps only the bytes of the window, for a conversation that is idle between two messages.
    package mutating func pack() {
        guard let stream = self.stream, self.failure == nil, !self.isInMessage, self.isAfterBlock else { return }
        var count: UInt32 = 0
        // Z_OK, Z_STREAM_ERROR
        guard inflateGetDictionary(stream, nil, &count) == Z_OK else { return }
        self.packed = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            inflateGetDictionary(stream, buffer.baseAddress, &count)
            initialized = Int(count)
        }
        Self.close(stream)
        self.stream = nil
        self.hasEnded = false
    }

    private mutating func open() -> Bool {
        guard self.stream == nil else { return true }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Z_OK, Z_MEM_ERROR, Z_VERSION_ERROR, Z_STREAM_ERROR
        guard wiretape_inflateInit2(stream, -self.windowBits) == Z_OK else {
            stream.deallocate()
            self.fail(.outOfMemory)
            return false
        }
        self.stream = stream
        guard !self.packed.isEmpty else { return true }
        // A raw stream accepts a window anywhere between blocks.
        let code = self.packed.withUnsafeBufferPointer { inflateSetDictionary(stream, $0.baseAddress, UInt32($0.count)) }
        self.packed = []
        if code != Z_OK { self.fail(.outOfMemory) }
        return code == Z_OK
    }

    private mutating func fail(_ failure: Failure) { self.failure = failure }
}
