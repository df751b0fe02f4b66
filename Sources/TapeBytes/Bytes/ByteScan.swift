internal import Platform

/// Searches bytes eight at a time.
///
/// Knows single bytes, not what they mean.
package enum ByteScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// High bits of the bytes equal to `byte`; exact up to and including the lowest one.
    @inline(__always)
    private static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (self.ones &* UInt64(byte))
        return (difference &- self.ones) & ~difference & self.highs
    }

    /// The first offset from `start` with a byte that a JSON string must escape: a quote, a backslash, a control character; or the end.
    @inline(__always)
    package static func endOfPlain(_ bytes: UnsafeRawBufferPointer, from start: Int, stopAtDelete: Bool) -> Int {
        let end = bytes.count
        var offset = start
        while end - offset >= 8 {
            let word = Self.word(bytes, at: offset)
            var stops = (word &- self.ones &* 0x20) & ~word & self.highs
            stops |= self.matches(word, UInt8(ascii: "\"")) | self.matches(word, UInt8(ascii: "\\"))
            if stopAtDelete { stops |= self.matches(word, 0x7F) }
            if stops != 0 { return offset + stops.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < end {
            let byte = bytes[offset]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || (stopAtDelete && byte == 0x7F) { break }
            offset += 1
        }
        return offset
    }

    /// The first offset from `start` that holds `byte`, or the end.
    package static func index(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var offset = start
        while end - offset >= 8 {
            let found = self.matches(Self.word(bytes, at: offset), byte)
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < end, bytes[offset] != byte { offset += 1 }
        return offset
    }

    /// The first offset from `start` that holds one of two bytes, or the end.
    package static func index(of byte: UInt8, or other: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var offset = start
        while end - offset >= 8 {
            let word = Self.word(bytes, at: offset)
            let found = self.matches(word, byte) | self.matches(word, other)
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < end, bytes[offset] != byte, bytes[offset] != other { offset += 1 }
        return offset
    }

    /// The first offset from `start` that holds a byte outside ASCII, or the end.
    @inline(__always)
    static func endOfASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var offset = start
        while end - offset >= 8 {
            let found = Self.word(bytes, at: offset) & self.highs
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < end, bytes[offset] < 0x80 { offset += 1 }
        return offset
    }

    /// How many times `byte` occurs before `end`. Byte by byte: for line numbers, off the hot path.
    package static func count(of byte: UInt8, in bytes: UnsafeRawBufferPointer, upTo end: Int) -> Int {
        var count = 0
        for offset in 0..<min(end, bytes.count) where bytes[offset] == byte { count += 1 }
        return count
    }
}

/// Finds a short text in bytes.
public enum ByteSearch {
    public static func contains(_ needle: StaticString, in haystack: UnsafeRawBufferPointer) -> Bool {
        guard let base = haystack.baseAddress, needle.utf8CodeUnitCount > 0 else { return false }
        let end = base + haystack.count
        var start = base
        while end - start >= needle.utf8CodeUnitCount, let found = memchr(start, Int32(needle.utf8Start[0]), end - start) {
            let candidate = UnsafeRawPointer(found)
            if end - candidate >= needle.utf8CodeUnitCount, memcmp(candidate, needle.utf8Start, needle.utf8CodeUnitCount) == 0 {
                return true
            }
            start = candidate + 1
        }
        return false
    }
}

extension UnsafeRawBufferPointer {
    /// `elementsEqual` by memcmp.
    package func elementsEqualFast(_ other: UnsafeRawBufferPointer) -> Bool {
        guard self.count == other.count else { return false }
        guard let left = self.baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, self.count) == 0
    }
}
