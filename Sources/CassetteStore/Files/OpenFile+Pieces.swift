internal import CassetteModel

extension OpenFile {
    static let pieceSize = 262_144

    /// Reads a range piece by piece, from its beginning until its end, the file's end, or until `body` returns false.
    ///
    /// - Parameter overlap: so many bytes of a piece are seen again at the beginning of the next, for what may lie across the edge.
    func forEachPiece(
        in range: Range<Int>, overlap: Int = 0, _ body: (_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(CassetteError) -> Bool
    ) throws(CassetteError) {
        guard !range.isEmpty else { return }
        var buffer = [UInt8](repeating: 0, count: min(Self.pieceSize, range.count))
        try buffer.withUnsafeMutableBufferPointer { (buffer) throws(CassetteError) in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var offset = range.lowerBound
            while offset < range.upperBound {
                let wanted = min(bytes.count, range.upperBound - offset)
                let count = try self.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted]), at: offset)
                guard count > 0, try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]), offset) else { return }
                offset += count
                guard offset < range.upperBound else { return }
                // Always ahead, or a piece no longer than the overlap would be read for ever.
                offset -= min(overlap, count - 1)
            }
        }
    }

    /// The offset of the first occurrence of a pattern that begins and ends in a range. The pattern begins with a line feed.
    func firstOffset(of pattern: [UInt8], in range: Range<Int>) throws(CassetteError) -> Int? {
        var found: Int?
        try self.forEachPiece(in: range, overlap: pattern.count - 1) { bytes, offset in
            found = Self.firstOffset(of: pattern, in: bytes).map { offset + $0 }
            return found == nil
        }
        return found
    }

    private static func firstOffset(of pattern: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let first = pattern.first, pattern.count <= bytes.count else { return nil }
        let last = bytes.count - pattern.count
        return pattern.withUnsafeBytes { pattern in
            var offset = 0
            while offset <= last {
                if bytes[offset] == first, bytes[offset..<(offset + pattern.count)].elementsEqual(pattern) { return offset }
                offset += 1
            }
            return nil
        }
    }
}
