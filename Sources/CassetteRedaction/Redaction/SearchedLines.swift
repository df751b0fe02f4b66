internal import CassetteModel
internal import TapeBytes

/// Field lines that were searched and contain no secret. Most lines of a program's messages recur, and are searched only once until another
/// secret becomes known.
///
/// Compares whole lines, and holds at most 1,024 of 128 bytes; a new line replaces another one. Any thread may use it.
final class SearchedLines: Sendable {
    private static let count = 1024
    /// The longest line held. Longer ones are policies, tokens and cookies.
    private static let size = 128
    /// A cell consists of the vault's generation at which its line was searched, the line's length (0 if empty), and the line.
    private static let lengthOffset = 8
    private static let lineOffset = 16
    private static let stride = SearchedLines.lineOffset + SearchedLines.size

    /// A single array, since each access to a further one would update its reference count. Empty until the first line is inserted.
    private let cells = Guarded<[UInt8]>([])

    /// The lines that have to be searched.
    ///
    /// - Parameter generation: the vault's generation. Lines searched at another one have to be searched again.
    func unknown(in fields: HeaderFields, at generation: Int) -> [Int] {
        self.cells.withLock { cells in
            guard !cells.isEmpty else { return Array(0..<fields.count) }
            var unknown: [Int] = []
            cells.withUnsafeBytes { cells in
                fields.withBytes { bytes in
                    for index in 0..<fields.count {
                        let line = UnsafeRawBufferPointer(rebasing: bytes[fields.lineRange(at: index)])
                        if !Self.holds(line, generation, cells) { unknown.append(index) }
                    }
                }
            }
            return unknown
        }
    }

    /// Inserts lines that were searched at this generation without finding anything.
    func insert(_ indices: some Sequence<Int>, of fields: HeaderFields, at generation: Int) {
        self.cells.withLock { cells in
            if cells.isEmpty { cells = [UInt8](repeating: 0, count: Self.count * Self.stride) }
            cells.withUnsafeMutableBytes { cells in
                fields.withBytes { bytes in
                    for index in indices {
                        let line = UnsafeRawBufferPointer(rebasing: bytes[fields.lineRange(at: index)])
                        guard !line.isEmpty, line.count <= Self.size else { continue }
                        let start = Self.start(line)
                        cells.storeBytes(of: generation, toByteOffset: start, as: Int.self)
                        cells[start + Self.lengthOffset] = UInt8(line.count)
                        UnsafeMutableRawBufferPointer(rebasing: cells[(start + Self.lineOffset)...]).copyMemory(from: line)
                    }
                }
            }
        }
    }

    private static func holds(_ line: UnsafeRawBufferPointer, _ generation: Int, _ cells: UnsafeRawBufferPointer) -> Bool {
        guard !line.isEmpty, line.count <= Self.size else { return false }
        let start = Self.start(line)
        guard Int(cells[start + Self.lengthOffset]) == line.count,
            cells.loadUnaligned(fromByteOffset: start, as: Int.self) == generation
        else { return false }
        let place = start + Self.lineOffset
        return UnsafeRawBufferPointer(rebasing: cells[place..<place + line.count]).elementsEqualFast(line)
    }

    /// The start of a line's cell, by a hash of its bytes, eight at a time. Lines with the same cell merely replace each other.
    private static func start(_ line: UnsafeRawBufferPointer) -> Int {
        var hash = UInt64(truncatingIfNeeded: line.count)
        var offset = 0
        while offset + 8 <= line.count {
            hash = (hash ^ line.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 32
            offset += 8
        }
        while offset < line.count {
            hash = (hash ^ UInt64(line[offset])) &* 0x9e37_79b9_7f4a_7c15
            offset += 1
        }
        return Int(truncatingIfNeeded: hash >> 54) * Self.stride
    }
}
