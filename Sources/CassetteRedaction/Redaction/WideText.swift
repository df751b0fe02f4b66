internal import TapeBytes

/// A text in UTF-16, converted to UTF-8 for searching. Edits of the latter are converted back.
struct WideText {
    let text: [UInt8]
    private let isBigEndian: Bool
    /// The size of the byte order mark, in bytes.
    private let markSize: Int

    /// Nil for other bytes. Without a byte order mark, the first two characters decide: in markup and JSON their high bytes are zero.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8, bytes.count % 2 == 0 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0xFF, 0xFE): (self.isBigEndian, self.markSize) = (false, 2)
        case (0xFE, 0xFF): (self.isBigEndian, self.markSize) = (true, 2)
        case (0, let first) where first >= 9 && first < 127 && bytes[2] == 0 && bytes[3] >= 9 && bytes[3] < 127:
            (self.isBigEndian, self.markSize) = (true, 0)
        case (let first, 0) where first >= 9 && first < 127 && bytes[3] == 0 && bytes[2] >= 9 && bytes[2] < 127:
            (self.isBigEndian, self.markSize) = (false, 0)
        default: return nil
        }
        let isBigEndian = self.isBigEndian
        let units = stride(from: self.markSize, to: bytes.count, by: 2).lazy.map { offset -> UInt16 in
            let (first, second) = (UInt16(bytes[offset]), UInt16(bytes[offset + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        // An invalid unit means that the bytes are not text.
        let isBroken = transcode(units.makeIterator(), from: UTF16.self, to: UTF8.self, stoppingOnError: true) { text.append($0) }
        guard !isBroken, !text.contains(0) else { return nil }
        self.text = text
    }

    /// - Parameter edits: edits of the UTF-8 text.
    func edits(_ edits: EditList) -> [Edit] {
        var offset = 0
        var size = self.markSize
        /// The offset in the UTF-16 text for an offset in the UTF-8 text.
        func move(to end: Int) -> Int {
            while offset < end {
                // The first byte of a character gives its length; four bytes are two units.
                if self.text[offset] & 0xC0 != 0x80 { size += self.text[offset] >= 0xF0 ? 4 : 2 }
                offset += 1
            }
            return size
        }
        return edits.edits.map { edit in
            let start = move(to: edit.range.lowerBound)
            let end = move(to: edit.range.upperBound)
            var bytes: [UInt8] = []
            for unit in String(decoding: edit.bytes, as: UTF8.self).utf16 {
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
                bytes += self.isBigEndian ? [high, low] : [low, high]
            }
            return Edit(range: start..<end, bytes: bytes)
        }
    }
}
