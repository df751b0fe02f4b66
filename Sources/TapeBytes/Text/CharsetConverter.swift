internal import Platform

/// Converts text from one charset to another with iconv(3) of the C library.
///
/// Exact or not at all: no character is left out, replaced or written as another one.
enum CharsetConverter {
    static func convert(_ octets: [UInt8], from source: String, to target: String) -> [UInt8]? {
        guard let converter = iconv_open(target, source), Int(bitPattern: converter) != -1 else { return nil }
        defer { iconv_close(converter) }
        var input = octets
        // No character of these charsets takes more than four times its octets in another.
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: octets.count * 4 + 16) { buffer, count in
            count = 0
            let room = UnsafeMutableRawBufferPointer(buffer)
            isWhole = input.withUnsafeMutableBytes { bytes in
                var start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                var left = bytes.count
                var end = room.baseAddress?.assumingMemoryBound(to: CChar.self)
                var free = room.count
                // Not below zero: EILSEQ, EINVAL at a cut character, E2BIG. Above zero: characters replaced by others.
                guard left == 0 || iconv(converter, &start, &left, &end, &free) == 0, left == 0 else { return false }
                // A charset may hold the last character back, for one that combines with it (windows-1255, windows-1258).
                guard iconv(converter, nil, nil, &end, &free) == 0 else { return false }
                count = room.count - free
                return true
            }
        }
        return isWhole ? output : nil
    }
}
