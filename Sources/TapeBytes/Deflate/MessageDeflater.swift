internal import CZlib

/// Encodes messages as one raw deflate stream (RFC 1951). Each ends with a flush whose last four bytes are omitted (RFC 7692, 7.2.1).
package struct MessageDeflater: ~Copyable {
    /// A window of 2^12 bytes and a `memLevel` of 5 take 32 KB, an eighth of zlib's default; Python's websockets made the same choice.
    package static let usualWindowBits = 12
    private static let memoryLevel: Int32 = 5
    /// The most encoded bytes delivered at once.
    package static let pieceSize = 16 << 10
    private static let tailSize = 4

    private let windowBits: Int32
    private let keepsWindow: Bool
    /// zlib's state contains a pointer to this, so it must not move. Nil between messages that share no window.
    private var stream: UnsafeMutablePointer<z_stream>?
    /// The last encoded bytes, up to four, which may be the tail of the flush.
    private var held: [UInt8] = []

    /// - Parameters:
    ///   - windowBits: the most that the reader agreed to. Returns nil for 8, for which zlib has no raw streams; messages are then sent
    ///     without compression.
    ///   - keepsWindow: whether a message may refer back to earlier messages.
    package init?(windowBits: Int, keepsWindow: Bool) {
        guard (9...15).contains(windowBits) else { return nil }
        self.windowBits = Int32(min(windowBits, Self.usualWindowBits))
        self.keepsWindow = keepsWindow
    }

    deinit { Self.close(self.stream) }

    private static func close(_ stream: UnsafeMutablePointer<z_stream>?) {
        guard let stream else { return }
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Encodes the next bytes of a message, and completes the message if `isLast`.
    ///
    /// - Returns: false if out of memory; the message then cannot be sent.
    package mutating func push(_ content: UnsafeRawBufferPointer, isLast: Bool, deliver: (UnsafeRawBufferPointer) -> Void) -> Bool {
        guard self.open(), let stream = self.stream else { return false }
        let isDone = withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) { output in
            var rest = content
            repeat {
                // zlib counts in 32 bits.
                let length = min(rest.count, 1 << 30)
                let flush = isLast && length == rest.count ? Z_SYNC_FLUSH : Z_NO_FLUSH
                stream.pointee.next_in = UnsafeMutablePointer(mutating: rest.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(length)
                repeat {
                    stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                    stream.pointee.avail_out = UInt32(output.count)
                    // Z_OK, Z_BUF_ERROR if nothing was left to do, Z_STREAM_ERROR
                    let code = CZlib.deflate(stream, flush)
                    guard code == Z_OK || code == Z_BUF_ERROR else { return false }
                    self.hand(over: UnsafeRawBufferPointer(rebasing: output[..<(output.count - Int(stream.pointee.avail_out))]), deliver)
                } while stream.pointee.avail_out == 0
                rest = UnsafeRawBufferPointer(rebasing: rest[length...])
            } while !rest.isEmpty
            return true
        }
        guard isLast else { return isDone }
        // The held bytes are the tail. RFC 7692, 7.2.3.6: an empty message is a single zero byte. zlib writes nothing for it, since it does
        // not flush twice in a row.
        if self.held != [0, 0, 0xff, 0xff] { withUnsafeBytes(of: UInt8(0)) { deliver($0) } }
        self.held.removeAll(keepingCapacity: true)
        if !self.keepsWindow {
            Self.close(self.stream)
            self.stream = nil
        }
        return isDone
    }

    /// Delivers all but the last four bytes.
    private mutating func hand(over bytes: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) -> Void) {
        guard bytes.count > Self.tailSize else {
            self.held.append(contentsOf: bytes)
            let surplus = self.held.count - Self.tailSize
            guard surplus > 0 else { return }
            self.held.withUnsafeBytes { deliver(UnsafeRawBufferPointer(rebasing: $0[..<surplus])) }
            self.held.removeFirst(surplus)
            return
        }
        if !self.held.isEmpty { self.held.withUnsafeBytes(deliver) }
        deliver(UnsafeRawBufferPointer(rebasing: bytes.dropLast(Self.tailSize)))
        self.held.removeAll(keepingCapacity: true)
        self.held.append(contentsOf: bytes.suffix(Self.tailSize))
    }

    private mutating func open() -> Bool {
        guard self.stream == nil else { return true }
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Z_OK, Z_MEM_ERROR, Z_VERSION_ERROR, Z_STREAM_ERROR
        guard wiretape_deflateInit2(stream, Z_DEFAULT_COMPRESSION, -self.windowBits, Self.memoryLevel, Z_DEFAULT_STRATEGY) == Z_OK else {
            stream.deallocate()
            return false
        }
        self.stream = stream
        return true
    }
}
