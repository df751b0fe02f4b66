internal import CassetteModel
internal import TapeBytes

/// Finds where two sequences of octets part, piece by piece.
enum OctetComparison {
    struct Difference: Sendable, Hashable {
        var offset: Int
        /// For people: what stands there, as a line of text or as an octet.
        var old: String
        var new: String
    }

    private static let pieceSize = OctetSource.pieceSize
    /// Octets of a line that are shown, and looked at before and behind the place.
    private static let context = 60

    static func firstDifference(_ old: OctetSource, _ new: OctetSource) throws -> Difference? {
        let common = min(old.size, new.size)
        var offset = 0
        let buffers = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * self.pieceSize, alignment: 16)
        defer { buffers.deallocate() }
        while offset < common {
            let count = min(self.pieceSize, common - offset)
            let one = UnsafeMutableRawBufferPointer(rebasing: buffers[..<count])
            let other = UnsafeMutableRawBufferPointer(rebasing: buffers[self.pieceSize..<self.pieceSize + count])
            try old.read(at: offset, into: one)
            try new.read(at: offset, into: other)
            if !UnsafeRawBufferPointer(one).elementsEqualFast(UnsafeRawBufferPointer(other)) {
                var index = 0
                while one[index] == other[index] { index += 1 }
                return try self.difference(old, new, at: offset + index)
            }
            offset += count
        }
        return old.size == new.size ? nil : try self.difference(old, new, at: common)
    }

    private static func difference(_ old: OctetSource, _ new: OctetSource, at offset: Int) throws -> Difference {
        let start = max(0, offset - self.context)
        let (one, other) = (try self.window(old, from: start), try self.window(new, from: start))
        if let one = self.line(one, offset - start), let other = self.line(other, offset - start) {
            return Difference(offset: offset, old: "octet \(offset): \(one)", new: other)
        }
        let octet = { (source: OctetSource, window: [UInt8]) in
            let index = offset - start
            guard index < window.count else { return "ends (\(source.size) octets)" }
            return "0x\(Hex.encode([window[index]])) (\(source.size) octets)"
        }
        return Difference(offset: offset, old: "octet \(offset): \(octet(old, one))", new: octet(new, other))
    }

    private static func window(_ source: OctetSource, from start: Int) throws -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: max(0, min(2 * self.context, source.size - start)))
        try octets.withUnsafeMutableBytes { try source.read(at: start, into: $0) }
        return octets
    }

    /// The line around an index, where what is there is text.
    private static func line(_ window: [UInt8], _ index: Int) -> String? {
        guard !window.contains(where: { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 13 }) else { return nil }
        let place = min(index, window.count)
        let start = window[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let end = window[place...].firstIndex(of: 10) ?? window.count
        // The window may begin or end within a character.
        var octets = window[start..<end].drop { $0 & 0xC0 == 0x80 }
        for _ in 0..<3 where !UTF8Validator.isValid(Array(octets)) { octets = octets.dropLast() }
        guard UTF8Validator.isValid(Array(octets)) else { return nil }
        let line = octets.last == 13 ? octets.dropLast() : octets
        return "\"\(String(decoding: line, as: UTF8.self))\""
    }
}
