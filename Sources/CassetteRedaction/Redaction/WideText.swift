internal import TapeBytes

/// A text in UTF-16 or UTF-32, converted to UTF-8 for searching. Edits of the latter are converted back.
struct WideText {
    let text: [UInt8]
    private let encoding: Encoding
    /// The size of the byte order mark, in bytes.
    private let markSize: Int

    private struct Encoding {
        /// 2 or 4 bytes.
        var width: Int
        var isBigEndian: Bool

        func unit(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
            (0..<self.width).reduce(0) { unit, place in
                let byte = UInt32(bytes[offset + place])
                return self.isBigEndian ? unit << 8 | byte : unit | byte << UInt32(8 * place)
            }
        }

        func append(_ unit: UInt32, to bytes: inout [UInt8]) {
            for place in 0..<self.width {
                let shift = 8 * (self.isBigEndian ? self.width - 1 - place : place)
                bytes.append(UInt8(truncatingIfNeeded: unit >> UInt32(shift)))
            }
        }
    }

    /// Nil for other bytes. Without a byte order mark and a charset, the first two characters decide: in markup and JSON, all their bytes but
    /// one are zero. A character that is cut at the end is left alone.
    ///
    /// - Parameter charset: the declared charset in lower case, if it is one of these.
    init?(_ bytes: UnsafeRawBufferPointer, charset: String? = nil) {
        guard bytes.count >= 8, let (encoding, markSize) = Self.encoding(bytes, charset) else { return nil }
        (self.encoding, self.markSize) = (encoding, markSize)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / encoding.width)
        var offset = markSize
        var invalid = 0
        let units = (bytes.count - markSize) / encoding.width
        while offset + encoding.width <= bytes.count {
            var unit = encoding.unit(bytes, at: offset)
            offset += encoding.width
            if encoding.width == 2, unit & 0xFC00 == 0xD800, offset + 2 <= bytes.count, case let low = encoding.unit(bytes, at: offset),
                low & 0xFC00 == 0xDC00
            {
                unit = 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
                offset += 2
            }
            if Unicode.Scalar(unit) == nil || unit < 32 && !Self.controls.contains(unit) { invalid += 1 }
            Self.append(Unicode.Scalar(unit) ?? Self.replacement, to: &text)
        }
        // Half a surrogate pair or a zero here and there is still a text. Bytes full of them are not, such as an array of small numbers.
        guard invalid <= units / Self.invalidShare + 1 else { return nil }
        self.text = text
    }

    /// Tab, line ends, page breaks and escape.
    private static let controls: Set<UInt32> = [9, 10, 12, 13, 27]
    private static let replacement: Unicode.Scalar = "\u{FFFD}"
    /// One in this many characters may be invalid.
    private static let invalidShare = 16

    private static func encoding(_ bytes: UnsafeRawBufferPointer, _ charset: String?) -> (Encoding, Int)? {
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0xFF, 0xFE, 0, 0): return (Encoding(width: 4, isBigEndian: false), 4)
        case (0, 0, 0xFE, 0xFF): return (Encoding(width: 4, isBigEndian: true), 4)
        case (0xFF, 0xFE, _, _): return (Encoding(width: 2, isBigEndian: false), 2)
        case (0xFE, 0xFF, _, _): return (Encoding(width: 2, isBigEndian: true), 2)
        default: break
        }
        for width in [4, 2] {
            for isBigEndian in [false, true] {
                let encoding = Encoding(width: width, isBigEndian: isBigEndian)
                let isText = [0, width].allSatisfy { (9..<127).contains(encoding.unit(bytes, at: $0)) }
                if isText { return (encoding, 0) }
            }
        }
        // Without a suffix, the order is big-endian (RFC 2781, 4.3).
        guard let charset, bytes.count % 2 == 0 else { return nil }
        return (Encoding(width: charset.hasPrefix("utf-32") ? 4 : 2, isBigEndian: !charset.hasSuffix("le")), 0)
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout [UInt8]) {
        if scalar.value < 0x80 {
            text.append(UInt8(scalar.value))
        } else if let encoded = UTF8.encode(scalar) {
            text.append(contentsOf: encoded)
        }
    }

    /// - Parameter edits: edits of the UTF-8 text.
    func edits(_ edits: EditList) -> [Edit] {
        var offset = 0
        var size = self.markSize
        let width = self.encoding.width
        /// The offset in the wide text for an offset in the UTF-8 text.
        func move(to end: Int) -> Int {
            while offset < end {
                // The first byte of a character gives its length; in UTF-16, four bytes are two units.
                if self.text[offset] & 0xC0 != 0x80 { size += self.text[offset] >= 0xF0 && width == 2 ? 4 : width }
                offset += 1
            }
            return size
        }
        return edits.edits.map { edit in
            let start = move(to: edit.range.lowerBound)
            let end = move(to: edit.range.upperBound)
            var bytes: [UInt8] = []
            let text = String(decoding: edit.bytes, as: UTF8.self)
            if width == 2 {
                for unit in text.utf16 { self.encoding.append(UInt32(unit), to: &bytes) }
            } else {
                for scalar in text.unicodeScalars { self.encoding.append(scalar.value, to: &bytes) }
            }
            return Edit(range: start..<end, bytes: bytes)
        }
    }
}
