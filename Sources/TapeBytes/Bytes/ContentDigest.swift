#if canImport(CryptoKit)
internal import CryptoKit
#else
internal import CSHA256
#endif
internal import CZlib

/// A digest that is computed piece by piece.
///
/// The protocol does not fix the algorithm. Cassettes use SHA-256.
public protocol ContentDigest {
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of all bytes so far. Do not call `update` after it.
    mutating func finalize() -> [UInt8]
}

#if canImport(CryptoKit)
/// SHA-256 (FIPS 180-4) without OpenSSL: from CryptoKit here, and in C on other platforms.
public struct PortableSHA256: ContentDigest, Sendable {
    private var digest = SHA256()

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) { self.digest.update(bufferPointer: bytes) }
    public mutating func finalize() -> [UInt8] { Array(self.digest.finalize()) }
}
#else
/// SHA-256 (FIPS 180-4) without OpenSSL: in C here, and from CryptoKit on Apple's platforms. In Swift, debug builds would take 0.1 s per
/// MB.
public struct PortableSHA256: ContentDigest, Sendable {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes of an unfinished block.
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        self.length &+= UInt64(bytes.count)
        var rest = bytes[...]
        if !self.pending.isEmpty {
            let taken = min(64 - self.pending.count, rest.count)
            self.pending.append(contentsOf: rest.prefix(taken))
            rest = rest.dropFirst(taken)
            guard self.pending.count == 64 else { return }
            self.consumePending()
        }
        let whole = rest.count & ~63
        if whole > 0 { self.consume(UnsafeRawBufferPointer(rebasing: rest.prefix(whole))) }
        self.pending.append(contentsOf: rest.dropFirst(whole))
    }

    public mutating func finalize() -> [UInt8] {
        let bits = self.length &* 8
        self.pending.append(0x80)
        self.pending.append(contentsOf: repeatElement(0, count: (120 - self.pending.count % 64) % 64))
        for shift in stride(from: 56, through: 0, by: -8) { self.pending.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        self.consumePending()
        return self.state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
    }

    private mutating func consumePending() {
        let pending = self.pending
        pending.withUnsafeBytes { self.consume($0) }
        self.pending.removeAll(keepingCapacity: true)
    }

    /// `blocks` must be a whole number of 64-byte blocks.
    private mutating func consume(_ blocks: UnsafeRawBufferPointer) {
        // SAFETY: the state has 8 words, and the function reads only the complete blocks of the buffer.
        sha256_blocks(&self.state, blocks.baseAddress, blocks.count / 64)
    }
}
#endif

/// The CRC-32 of gzip (RFC 1952).
package enum CRC32 {
    /// The checksum of `bytes`; or of all bytes, if `earlier` is the checksum of those before them.
    package static func value(of bytes: UnsafeRawBufferPointer, after earlier: UInt32 = 0) -> UInt32 {
        guard let base = bytes.baseAddress else { return earlier }
        let pointer = base.assumingMemoryBound(to: Bytef.self)
        return UInt32(truncatingIfNeeded: crc32_z(uLong(earlier), pointer, bytes.count))
    }
}
