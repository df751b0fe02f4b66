internal import CassetteModel

/// Collects small writes into large ones, one behind the other.
struct BufferedWriter {
    private static let capacity = 262_144

    /// Where the next byte goes in the file.
    private(set) var offset = 0
    private var buffer: [UInt8] = []

    mutating func append(_ bytes: some Collection<UInt8>, to file: borrowing OpenFile) throws(CassetteError) {
        self.buffer += bytes
        self.offset += bytes.count
        if self.buffer.count >= Self.capacity { try self.flush(to: file) }
    }

    /// Copies a range of another file.
    mutating func append(_ range: Range<Int>, of source: borrowing OpenFile, to file: borrowing OpenFile) throws(CassetteError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let end = min(offset + OpenFile.pieceSize, range.upperBound)
            try self.append(source.read(offset..<end), to: file)
            offset = end
        }
    }

    mutating func flush(to file: borrowing OpenFile) throws(CassetteError) {
        try file.write(self.buffer, at: self.offset - self.buffer.count)
        self.buffer.removeAll(keepingCapacity: self.buffer.capacity <= 4 * Self.capacity)
    }
}
