internal import CJSONScan
internal import Platform

/// Searches bytes eight or more at a time.
///
/// Looks for single bytes and does not interpret them.
package enum ByteScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The high bits of the bytes equal to `byte`; exact up to and including the lowest match.
    @inline(__always)
    private static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (self.ones &* UInt64(byte))
        return (difference &- self.ones) & ~difference & self.highs
    }

    /// The first offset from `start` with a byte that a JSON string must escape (a quote, a backslash, a control character), or the end.
    @inline(__always)
    package static func endOfPlain(_ bytes: UnsafeRawBufferPointer, from start: Int, stopAtDelete: Bool) -> Int {
        let end = bytes.count
        var offset = start
        // Most strings are shorter, and the loop below finishes them before a call would have begun.
        if end - offset >= 32, let base = bytes.baseAddress { offset = json_plain(base, offset, end, stopAtDelete) }
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

    /// The first offset from `start` with `byte`, or the end.
    package static func index(of byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var offset = start
        // In long texts, the C library's vectors are faster.
        if end - offset >= 64, let base = bytes.baseAddress {
            return memchr(base + offset, Int32(byte), end - offset).map { UnsafeRawPointer($0) - base } ?? end
        }
        while end - offset >= 8 {
            let found = self.matches(Self.word(bytes, at: offset), byte)
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < end, bytes[offset] != byte { offset += 1 }
        return offset
    }

    /// The first offset from `start` with one of two bytes, or the end.
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

    /// The first offset from `start` with a byte outside ASCII, or the end.
    @inline(__always)
    static func endOfASCII(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let end = bytes.count
        var offset = start
        while end - offset >= 32 {
            let low = Self.word(bytes, at: offset) | Self.word(bytes, at: offset &+ 8)
            let high = Self.word(bytes, at: offset &+ 16) | Self.word(bytes, at: offset &+ 24)
            guard (low | high) & self.highs == 0 else { break }
            offset &+= 32
        }
        while end - offset >= 8 {
            let found = Self.word(bytes, at: offset) & self.highs
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < end, bytes[offset] < 0x80 { offset += 1 }
        return offset
    }

    /// How often `byte` occurs before `end`. Counts byte by byte: it serves line numbers, off the hot path.
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
        let length = needle.utf8CodeUnitCount
        guard haystack.count >= length else { return false }
        let rarest = self.rarest(UnsafeBufferPointer(start: needle.utf8Start, count: length))
        // The positions at which the rarest byte of an occurrence can be.
        var place = base + rarest
        let end = base + haystack.count - length + rarest + 1
        while place < end, let found = memchr(place, Int32(needle.utf8Start[rarest]), end - place) {
            let candidate = UnsafeRawPointer(found) - rarest
            if memcmp(candidate, needle.utf8Start, length) == 0 { return true }
            place = UnsafeRawPointer(found) + 1
        }
        return false
    }

    /// Letters from frequent to rare in English text. Quotes, slashes and digits rank as more frequent, because JSON has more of them.
    private static let ranks: [UInt8] = {
        var ranks = [UInt8](repeating: 0, count: 256)
        for (rank, letter) in "etaoinshrdlcumwfgypbvkjxqz".utf8.enumerated() { ranks[Int(letter)] = UInt8(rank + 1) }
        return ranks
    }()

    /// The byte of the needle to search for, because it is the rarest; the first of equally rare ones.
    private static func rarest(_ needle: UnsafeBufferPointer<UInt8>) -> Int {
        self.ranks.withUnsafeBufferPointer { ranks in
            var rarest = 0
            for index in needle.indices where ranks[Int(needle[index])] > ranks[Int(needle[rarest])] { rarest = index }
            return rarest
        }
    }
}

extension UnsafeRawBufferPointer {
    /// `elementsEqual` by memcmp.
    package func elementsEqualFast(_ other: UnsafeRawBufferPointer) -> Bool {
        guard self.count == other.count else { return false }
        guard let left = self.baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, self.count) == 0
    }

    /// Whether `text` is at `offset`, which must not be negative.
    ///
    /// Inlined, so that the compiler knows the text and compares it in words.
    // SAFETY: all reads end at `offset + count`, which is at most `self.count`.
    @inlinable @inline(__always)
    package func has(_ text: StaticString, at offset: Int) -> Bool {
        let count = text.utf8CodeUnitCount
        guard self.count - offset >= count else { return false }
        let wanted = UnsafeRawBufferPointer(start: text.utf8Start, count: count)
        var done = 0
        while count - done >= 8 {
            let found = self.loadUnaligned(fromByteOffset: offset + done, as: UInt64.self)
            let word = wanted.loadUnaligned(fromByteOffset: done, as: UInt64.self)
            guard found == word else { return false }
            done += 8
        }
        while count - done >= 2 {
            let found = self.loadUnaligned(fromByteOffset: offset + done, as: UInt16.self)
            let word = wanted.loadUnaligned(fromByteOffset: done, as: UInt16.self)
            guard found == word else { return false }
            done += 2
        }
        return done == count || self[offset + done] == wanted[done]
    }
}
