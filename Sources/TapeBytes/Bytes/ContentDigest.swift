internal import CZlib

/// A digest that is computed piece by piece.
///
/// Does not fix the algorithm. Cassettes use SHA-256.
public protocol ContentDigest {
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of all bytes so far; `update` must not be called after it.
    mutating func finalize() -> [UInt8]
}

/// SHA-256 (FIPS 180-4) in plain Swift, for platforms and tests without a faster one.
public struct PortableSHA256: ContentDigest, Sendable {
    private var state: State
    /// The bytes of an unfinished block.
    private var pending: [UInt8]
    private var length: UInt64

    private struct State: Sendable {
        var a: UInt32 = 0x6a09_e667
        var b: UInt32 = 0xbb67_ae85
        var c: UInt32 = 0x3c6e_f372
        var d: UInt32 = 0xa54f_f53a
        var e: UInt32 = 0x510e_527f
        var f: UInt32 = 0x9b05_688c
        var g: UInt32 = 0x1f83_d9ab
        var h: UInt32 = 0x5be0_cd19
    }

    public init() {
        self.state = State()
        self.pending = []
        self.pending.reserveCapacity(128)
        self.length = 0
    }

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
        if whole > 0 { Self.consume(UnsafeRawBufferPointer(rebasing: rest.prefix(whole)), into: &self.state) }
        self.pending.append(contentsOf: rest.dropFirst(whole))
    }

    public mutating func finalize() -> [UInt8] {
        let bits = self.length &* 8
        self.pending.append(0x80)
        while self.pending.count % 64 != 56 { self.pending.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) { self.pending.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        self.consumePending()
        let words = [self.state.a, self.state.b, self.state.c, self.state.d, self.state.e, self.state.f, self.state.g, self.state.h]
        return words.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
    }

    private mutating func consumePending() {
        self.pending.withUnsafeBytes { Self.consume($0, into: &self.state) }
        self.pending.removeAll(keepingCapacity: true)
    }

    /// `blocks` is a whole number of 64-byte blocks.
    private static func consume(_ blocks: UnsafeRawBufferPointer, into result: inout State) {
        guard let base = blocks.baseAddress else { return }
        var state = result
        self.constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
                // SAFETY: there are 64 words and 64 constants, every index below is under 64, and `base + offset` starts a whole block.
                guard let w = words.baseAddress, let k = constants.baseAddress else { return }
                var offset = 0
                while offset < blocks.count {
                    self.schedule(base + offset, into: w)
                    self.compress(w, k, into: &state)
                    offset &+= 64
                }
            }
        }
        result = state
    }

    @inline(__always)
    private static func schedule(_ block: UnsafeRawPointer, into w: UnsafeMutablePointer<UInt32>) {
        for index in 0..<16 { w[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)) }
        for index in 16..<64 {
            let x = w[index &- 15]
            let y = w[index &- 2]
            let s0 = self.rotate(x, 7) ^ self.rotate(x, 18) ^ (x &>> 3)
            let s1 = self.rotate(y, 17) ^ self.rotate(y, 19) ^ (y &>> 10)
            w[index] = w[index &- 16] &+ s0 &+ w[index &- 7] &+ s1
        }
    }

    @inline(__always)
    private static func compress(_ w: UnsafeMutablePointer<UInt32>, _ k: UnsafePointer<UInt32>, into state: inout State) {
        var (a, b, c, d, e, f, g, h) = (state.a, state.b, state.c, state.d, state.e, state.f, state.g, state.h)
        var index = 0
        while index < 64 {
            // Eight rounds with the names rotated instead of the values.
            self.round(a, b, c, &d, e, f, g, &h, k[index] &+ w[index])
            self.round(h, a, b, &c, d, e, f, &g, k[index &+ 1] &+ w[index &+ 1])
            self.round(g, h, a, &b, c, d, e, &f, k[index &+ 2] &+ w[index &+ 2])
            self.round(f, g, h, &a, b, c, d, &e, k[index &+ 3] &+ w[index &+ 3])
            self.round(e, f, g, &h, a, b, c, &d, k[index &+ 4] &+ w[index &+ 4])
            self.round(d, e, f, &g, h, a, b, &c, k[index &+ 5] &+ w[index &+ 5])
            self.round(c, d, e, &f, g, h, a, &b, k[index &+ 6] &+ w[index &+ 6])
            self.round(b, c, d, &e, f, g, h, &a, k[index &+ 7] &+ w[index &+ 7])
            index &+= 8
        }
        state.a &+= a
        state.b &+= b
        state.c &+= c
        state.d &+= d
        state.e &+= e
        state.f &+= f
        state.g &+= g
        state.h &+= h
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32,
        _ input: UInt32
    ) {
        let s1 = self.rotate(e, 6) ^ self.rotate(e, 11) ^ self.rotate(e, 25)
        let t1 = h &+ s1 &+ (g ^ (e & (f ^ g))) &+ input
        let s0 = self.rotate(a, 2) ^ self.rotate(a, 13) ^ self.rotate(a, 22)
        d &+= t1
        h = t1 &+ s0 &+ ((a & b) | (c & (a | b)))
    }

    @inline(__always)
    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        (word &>> count) | (word &<< (32 &- count))
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

/// The CRC-32 of gzip (RFC 1952).
package enum CRC32 {
    /// The checksum of `bytes`, or of all bytes if `earlier` is the checksum of those before them.
    package static func value(of bytes: UnsafeRawBufferPointer, after earlier: UInt32 = 0) -> UInt32 {
        guard let base = bytes.baseAddress else { return earlier }
        let pointer = base.assumingMemoryBound(to: Bytef.self)
        return UInt32(truncatingIfNeeded: crc32_z(uLong(earlier), pointer, bytes.count))
    }
}
