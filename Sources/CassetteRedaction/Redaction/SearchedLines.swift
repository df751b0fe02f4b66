internal import CassetteModel
internal import TapeBytes

/// Field lines that were searched and hold no secret: most lines of a program's messages come again and again, and are searched once, until
/// another secret becomes known.
///
/// Compares whole lines, and holds at most 128 KiB of them: a line that comes takes the place of another. Any thread may use it.
final class SearchedLines: Sendable {
    private struct Cells: Sendable {
        var bytes: [UInt8] = []
        /// Of the line in each cell; 0 for none.
        var counts: [UInt8] = []
        /// The vault's generation at which it was searched.
        var generations: [Int] = []
    }

    private static let count = 1024
    /// Longest line held. Longer ones are policies, tokens and cookies.
    private static let size = 128

    private let cells = Guarded(Cells())

    /// Which of the lines are to be searched.
    ///
    /// - Parameter generation: of the vault; what was searched at another one counts no more.
    func unknown(in fields: HeaderFields, at generation: Int) -> [Int] {
        self.cells.withLock { cells in
            guard !cells.bytes.isEmpty else { return Array(0..<fields.count) }
            var unknown: [Int] = []
            fields.bytes.withUnsafeBytes { bytes in
                for index in 0..<fields.count {
                    let line = UnsafeRawBufferPointer(rebasing: bytes[fields.lineRange(at: index)])
                    if !Self.holds(line, generation, cells) { unknown.append(index) }
                }
            }
            return unknown
        }
    }

    /// Enters lines that were searched at a generation, and in which nothing was found.
    func insert(_ indices: some Sequence<Int>, of fields: HeaderFields, at generation: Int) {
        self.cells.withLock { cells in
            if cells.bytes.isEmpty {
                cells.bytes = [UInt8](repeating: 0, count: Self.count * Self.size)
                cells.counts = [UInt8](repeating: 0, count: Self.count)
                cells.generations = [Int](repeating: 0, count: Self.count)
            }
            for index in indices {
                let line = fields.bytes[fields.lineRange(at: index)]
                guard !line.isEmpty, line.count <= Self.size else { continue }
                let cell = line.withUnsafeBytes { Self.cell($0) }
                cells.bytes.replaceSubrange(cell * Self.size..<cell * Self.size + line.count, with: line)
                cells.counts[cell] = UInt8(line.count)
                cells.generations[cell] = generation
            }
        }
    }

    private static func holds(_ line: UnsafeRawBufferPointer, _ generation: Int, _ cells: Cells) -> Bool {
        guard !line.isEmpty, line.count <= Self.size else { return false }
        let cell = Self.cell(line)
        guard Int(cells.counts[cell]) == line.count, cells.generations[cell] == generation else { return false }
        let start = cell * Self.size
        return cells.bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[start..<start + line.count]).elementsEqualFast(line) }
    }

    /// By its bytes, eight at a time. Lines of the same cell only take turns.
    private static func cell(_ line: UnsafeRawBufferPointer) -> Int {
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
        return Int(truncatingIfNeeded: hash >> 54)
    }
}
