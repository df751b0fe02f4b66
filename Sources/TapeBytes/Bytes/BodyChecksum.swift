internal import CZlib

/// A checksum or digest of a complete body, as header fields carry it.
package enum BodyChecksum: Sendable, Hashable, CaseIterable {
    /// The CRC-32 of gzip (RFC 1952).
    case crc32
    /// CRC-32C, Castagnoli (RFC 9260, appendix A).
    case crc32c
    /// CRC-64/NVME, which S3 uses.
    case crc64nvme
    /// CRC-64/XZ, which Aliyun OSS uses.
    case crc64xz
    /// Adler-32 of zlib (RFC 1950, 8.2), which ownCloud uses.
    case adler32
    /// RFC 1321
    case md5
    /// FIPS 180-4, like the next three
    case sha1
    case sha256
    case sha384
    case sha512

    /// In bytes.
    package var size: Int {
        switch self {
        case .crc32, .crc32c, .adler32: 4
        case .crc64nvme, .crc64xz: 8
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Computes the checksum of bytes in memory. Needs no vetted library, because no checksum here protects against an attacker.
    package func value(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .crc32: Self.bigEndian(Self.crc32(bytes))
        case .crc32c: Self.bigEndian(UInt32(truncatingIfNeeded: CRCTable.castagnoli.value(of: bytes)))
        case .crc64nvme: Self.bigEndian(CRCTable.nvme.value(of: bytes))
        case .crc64xz: Self.bigEndian(CRCTable.xz.value(of: bytes))
        case .adler32: Self.bigEndian(Self.adler32(bytes))
        case .md5: MD5.digest(of: bytes)
        case .sha1: SHA1.digest(of: bytes)
        case .sha256:
            {
                var digest = PortableSHA256()
                bytes.withUnsafeBytes { digest.update($0) }
                return digest.finalize()
            }()
        case .sha384: SHA512.digest(of: bytes, isShort: true)
        case .sha512: SHA512.digest(of: bytes)
        }
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 { self.running(CZlib.crc32, bytes) }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 { self.running(CZlib.adler32, bytes) }

    /// Runs one of zlib's functions over all bytes, as each call takes a 32-bit length.
    private static func running(_ update: (uLong, UnsafePointer<UInt8>?, uInt) -> uLong, _ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { buffer in
            var value = update(0, nil, 0)
            var rest = buffer[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
                value = update(value, piece.bindMemory(to: UInt8.self).baseAddress, UInt32(piece.count))
                rest = rest.dropFirst(piece.count)
            }
            return UInt32(truncatingIfNeeded: value)
        }
    }

    private static func bigEndian<Word: FixedWidthInteger>(_ word: Word) -> [UInt8] {
        stride(from: Word.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> Word($0)) }
    }
}

/// A reflected cyclic redundancy check, computed byte by byte, whose register is inverted at the start and the end.
private struct CRCTable: Sendable {
    static let castagnoli = CRCTable(polynomial: 0x82F6_3B78, mask: 0xFFFF_FFFF)
    static let nvme = CRCTable(polynomial: 0x9A6C_9329_AC4B_C9B5, mask: .max)
    static let xz = CRCTable(polynomial: 0xC96C_5795_D787_0F42, mask: .max)

    private let table: [UInt64]
    private let mask: UInt64

    private init(polynomial: UInt64, mask: UInt64) {
        self.mask = mask
        self.table = (0..<256).map { byte in
            (0..<8).reduce(UInt64(byte)) { register, _ in register & 1 == 1 ? register >> 1 ^ polynomial : register >> 1 }
        }
    }

    func value(of bytes: [UInt8]) -> UInt64 {
        bytes.reduce(self.mask) { self.table[Int(truncatingIfNeeded: ($0 ^ UInt64($1)) & 0xFF)] ^ $0 >> 8 } ^ self.mask
    }
}

/// MD5 (RFC 1321), which protocols use to detect accidental changes.
private enum MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The integer part of `2³² · |sin(i + 1)|` (RFC 1321, 3.4).
    private static let sines: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501, 0x6980_98d8, 0x8b44_f7af,
        0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821, 0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa,
        0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8, 0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8,
        0x676f_02d9, 0x8d2a_4c8a, 0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665, 0xf429_2244, 0x432a_ff97,
        0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1, 0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1,
        0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]

    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var padded = bytes
        let bits = UInt64(bytes.count) &* 8
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        for shift in stride(from: 0, through: 56, by: 8) { padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        var words = [UInt32](repeating: 0, count: 16)
        for block in stride(from: 0, to: padded.count, by: 64) {
            for index in 0..<16 {
                let start = block + index * 4
                words[index] =
                    UInt32(padded[start]) | UInt32(padded[start + 1]) << 8 | UInt32(padded[start + 2]) << 16 | UInt32(padded[start + 3])
                    << 24
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let (mixed, index): (UInt32, Int) =
                    switch step / 16 {
                    case 0: (b & c | ~b & d, step)
                    case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                    case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                    case _: (c ^ (b | ~d), 7 * step % 16)
                    }
                let sum = a &+ mixed &+ self.sines[step] &+ words[index]
                let shift = self.shifts[step / 16 * 4 + step % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            state[0] &+= a
            state[1] &+= b
            state[2] &+= c
            state[3] &+= d
        }
        return state.flatMap { word in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
    }
}

/// SHA-512 and SHA-384 (FIPS 180-4, 6.4 and 6.5).
private enum SHA512 {
    private static let primes: [UInt64] = {
        var primes: [UInt64] = []
        var candidate: UInt64 = 2
        while primes.count < 80 {
            if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes
    }()

    /// The first 64 bits of the fractional parts of the cube roots of the first 80 primes (FIPS 180-4, 4.2.3).
    private static let constants: [UInt64] = Self.primes.map { Self.fractionOfRoot($0, degree: 3) }
    /// The same for the square roots of the first 8 (FIPS 180-4, 5.3.5).
    private static let initial: [UInt64] = Self.primes.prefix(8).map { Self.fractionOfRoot($0, degree: 2) }
    /// The same for the 9th to the 16th, for SHA-384 (FIPS 180-4, 5.3.4).
    private static let initialOfShort: [UInt64] = Self.primes[8..<16].map { Self.fractionOfRoot($0, degree: 2) }

    /// Finds the root bit by bit: the integer part, then 64 bits of the fraction.
    private static func fractionOfRoot(_ number: UInt64, degree: Int) -> UInt64 {
        var root = Wide(0)
        for bit in (0..<70).reversed() {
            let larger = root.setting(bit: bit)
            if larger.power(degree).isAtMost(number, shiftedBy: 64 * degree) { root = larger }
        }
        return root.low
    }

    /// An unsigned integer of a few 32-bit digits, the lowest first.
    private struct Wide {
        private var digits: [UInt32]

        init(_ value: UInt32) { self.digits = [value, 0, 0] }

        private init(digits: [UInt32]) { self.digits = digits }

        var low: UInt64 { UInt64(self.digits[0]) | UInt64(self.digits[1]) << 32 }

        func setting(bit: Int) -> Wide {
            var copy = self
            copy.digits[bit / 32] |= 1 << UInt32(bit % 32)
            return copy
        }

        func power(_ degree: Int) -> Wide { (1..<degree).reduce(self) { product, _ in product.times(self) } }

        private func times(_ other: Wide) -> Wide {
            var product = [UInt32](repeating: 0, count: self.digits.count + other.digits.count)
            for (left, digit) in self.digits.enumerated() {
                var carry: UInt64 = 0
                for (right, factor) in other.digits.enumerated() {
                    let sum = UInt64(digit) * UInt64(factor) + UInt64(product[left + right]) + carry
                    product[left + right] = UInt32(truncatingIfNeeded: sum)
                    carry = sum >> 32
                }
                product[left + other.digits.count] = UInt32(truncatingIfNeeded: carry)
            }
            return Wide(digits: product)
        }

        /// Whether this is at most a number times a power of 2 whose exponent is a multiple of 32.
        func isAtMost(_ number: UInt64, shiftedBy bits: Int) -> Bool {
            var limit = [UInt32](repeating: 0, count: bits / 32)
            limit += [UInt32(truncatingIfNeeded: number), UInt32(truncatingIfNeeded: number >> 32)]
            let count = max(limit.count, self.digits.count)
            for index in (0..<count).reversed() {
                let (mine, theirs) = (index < self.digits.count ? self.digits[index] : 0, index < limit.count ? limit[index] : 0)
                if mine != theirs { return mine < theirs }
            }
            return true
        }
    }

    static func digest(of bytes: [UInt8], isShort: Bool = false) -> [UInt8] {
        var padded = bytes
        let bits = UInt64(bytes.count) &* 8
        padded.append(0x80)
        // The length has 128 bits (FIPS 180-4, 5.1.2), of which the upper 64 are 0.
        padded.append(contentsOf: repeatElement(0, count: (240 - padded.count % 128) % 128 + 8))
        for shift in stride(from: 56, through: 0, by: -8) { padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
        var state = isShort ? self.initialOfShort : self.initial
        padded.withUnsafeBytes { blocks in
            self.constants.withUnsafeBufferPointer { constants in
                withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 80) { words in
                    for block in stride(from: 0, to: blocks.count, by: 128) {
                        self.add(UnsafeRawBufferPointer(rebasing: blocks[block..<block + 128]), constants, words, to: &state)
                    }
                }
            }
        }
        let digest = state.flatMap { word in stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) } }
        return isShort ? Array(digest.prefix(48)) : digest
    }

    /// Adds one block of 128 bytes. `words` has room for 80.
    private static func add(
        _ block: UnsafeRawBufferPointer, _ constants: UnsafeBufferPointer<UInt64>, _ words: UnsafeMutableBufferPointer<UInt64>,
        to state: inout [UInt64]
    ) {
        for index in 0..<16 { words[index] = UInt64(bigEndian: block.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)) }
        for index in 16..<80 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = self.rotate(early, 1) ^ self.rotate(early, 8) ^ early >> 7
            let second = self.rotate(late, 19) ^ self.rotate(late, 61) ^ late >> 6
            words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<80 {
            let second = self.rotate(e, 14) ^ self.rotate(e, 18) ^ self.rotate(e, 41)
            let one = h &+ second &+ (e & f ^ ~e & g) &+ constants[index] &+ words[index]
            let first = self.rotate(a, 28) ^ self.rotate(a, 34) ^ self.rotate(a, 39)
            let two = first &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word >> count | word << (64 - count) }
}
