internal import TapeBytes

/// Reads the start tags of XML and HTML around given offsets in a text: `<input type="hidden" name="csrf_token" value="X">`.
///
/// Must be asked for offsets in ascending order. Examines each byte of the text once to find the beginnings of tags.
struct MarkupTags {
    struct Tag {
        /// Without its prefix.
        var name: Range<Int>
        /// Names without prefixes.
        var attributes: [(name: Range<Int>, value: Range<Int>)]
        /// The offset after the `>`.
        var end: Int
        /// `<a/>`
        var isEmpty: Bool
    }

    private let text: SurveyText
    /// How far the text was read, and the beginning of the tag that was open there.
    private var position = 0
    private var open: Int?
    private var quote: UInt8?
    /// The tag that was last read.
    private var last = -1
    /// How many bytes were examined, for tests of the cost.
    private(set) var looked = 0

    /// The longest tag, in bytes.
    private static let lengthLimit = 8192
    private static let attributeLimit = 64

    init(text: SurveyText) {
        self.text = text
    }

    /// The start tag that contains an offset; nil if there is none, or if it was read before.
    mutating func tag(around offset: Int) -> Tag? {
        self.follow(to: offset)
        guard let open = self.open, open != self.last else { return nil }
        self.last = open
        return self.tag(at: open)
    }

    private mutating func follow(to end: Int) {
        if end - self.position > Self.lengthLimit {
            (self.position, self.open, self.quote) = (end - Self.lengthLimit, nil, nil)
        }
        self.looked += max(0, end - self.position)
        while self.position < end {
            let byte = self.text.bytes[self.position]
            if byte == UInt8(ascii: "<") {
                // Even within quotes, which may belong to another text.
                let begins =
                    self.text.byte(self.position + 1).map { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "_") } ?? false
                if begins || self.open == nil { (self.open, self.quote) = (begins ? self.position : nil, nil) }
            } else if self.open != nil {
                if let quote = self.quote {
                    if byte == quote { self.quote = nil }
                } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    self.quote = byte
                } else if byte == UInt8(ascii: ">") {
                    self.open = nil
                }
            }
            self.position += 1
        }
    }

    /// The tag that begins at an offset; nil if it does not end within the text.
    mutating func tag(at open: Int) -> Tag? {
        var offset = open + 1
        defer { self.looked += offset - open }
        return self.tag(at: open, &offset)
    }

    private func tag(at open: Int, _ offset: inout Int) -> Tag? {
        let most = min(self.text.bytes.count, open + Self.lengthLimit)
        let name = self.name(&offset, most)
        var attributes: [(name: Range<Int>, value: Range<Int>)] = []
        while offset < most, attributes.count < Self.attributeLimit {
            while offset < most, self.text.bytes[offset] <= 32 { offset += 1 }
            // A tag that is not closed before the next one is not a tag.
            guard offset < most, self.text.bytes[offset] != UInt8(ascii: "<") else { return nil }
            if self.text.bytes[offset] == UInt8(ascii: ">") {
                let isEmpty = self.text.bytes[offset - 1] == UInt8(ascii: "/")
                return Tag(name: name, attributes: attributes, end: offset + 1, isEmpty: isEmpty)
            }
            let start = offset
            let attribute = self.name(&offset, most)
            let equals = self.text.skipSpace(offset)
            guard self.text.byte(equals) == UInt8(ascii: "=") else {
                if offset == start { offset += 1 }
                continue
            }
            offset = min(self.text.skipSpace(equals + 1), most)
            guard let value = self.value(&offset, most) else { return nil }
            attributes.append((attribute, value))
        }
        return nil
    }

    private func name(_ offset: inout Int, _ most: Int) -> Range<Int> {
        var start = offset
        while offset < most, self.text.bytes[offset] > 32, !"=>/\"'<".utf8.contains(self.text.bytes[offset]) {
            if self.text.bytes[offset] == UInt8(ascii: ":") { start = offset + 1 }
            offset += 1
        }
        return start..<offset
    }

    private func value(_ offset: inout Int, _ most: Int) -> Range<Int>? {
        guard let quote = self.text.byte(offset), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let start = offset
            while offset < most, self.text.bytes[offset] > 32, !"<>".utf8.contains(self.text.bytes[offset]) { offset += 1 }
            let isClosed = offset > start && self.text.byte(offset) == UInt8(ascii: ">") && self.text.bytes[offset - 1] == UInt8(ascii: "/")
            return start..<(isClosed ? offset - 1 : offset)
        }
        let start = offset + 1
        offset = start
        while offset < most, self.text.bytes[offset] != quote { offset += 1 }
        guard offset < most else { return nil }
        offset += 1
        return start..<offset - 1
    }
}
