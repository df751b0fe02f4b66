/// Where the files of a tar archive lie (POSIX.1-2017, pax).
///
/// Does not know the files' kinds or names.
struct TapeArchive {
    private static let blockSize = 512
    /// The most files that are found one by one; the rest is one gap.
    private static let fileLimit = 100_000

    private(set) var files: [Range<Int>] = []
    /// Everything between the files: headers, and what could not be read.
    private(set) var gaps: [Range<Int>] = []

    /// Nil for bytes that are not such an archive.
    init?(_ content: UnsafeRawBufferPointer) {
        guard Self.isHeader(content, at: 0) else { return nil }
        var offset = 0
        while Self.isHeader(content, at: offset), let size = Self.size(content, at: offset), self.files.count < Self.fileLimit {
            let start = offset + Self.blockSize
            guard size <= content.count - start else { break }
            self.gaps.append(offset..<start)
            if size > 0 { self.files.append(start..<start + size) }
            offset = start + (size + Self.blockSize - 1) / Self.blockSize * Self.blockSize
            if offset >= content.count { return }
        }
        // The last file may be cut.
        let start = offset + Self.blockSize
        if Self.isHeader(content, at: offset), start < content.count {
            // The end of the archive, which would hide that the file is a text.
            let end = content[start...].lastIndex { $0 != 0 }.map { $0 + 1 } ?? start
            self.gaps.append(offset..<start)
            if end > start { self.files.append(start..<end) }
            if end < content.count { self.gaps.append(end..<content.count) }
        } else {
            self.gaps.append(offset..<content.count)
        }
    }

    /// Whether a block is the header of a file, by its magic number and its checksum field.
    static func isHeader(_ content: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        offset >= 0 && content.count - offset >= Self.blockSize && content[(offset + 257)...].starts(with: "ustar".utf8)
    }

    /// In octal digits, or for large files as a number of 95 bits, of which 63 are read.
    private static func size(_ content: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        let field = content[(offset + 124)..<(offset + 136)]
        if field.first == 0x80 {
            return field.suffix(8).first.map { $0 < 128 } == true ? field.suffix(8).reduce(0) { $0 << 8 | Int($1) } : nil
        }
        let digits = field.drop { $0 == 32 }.prefix { $0 >= 48 && $0 < 56 }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 << 3 | Int($1 - 48) }
    }
}
