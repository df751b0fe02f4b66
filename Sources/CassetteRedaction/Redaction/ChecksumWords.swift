/// The words of a header field's value that may be checksums: letters, digits, and the other characters of base64 and its URL-safe
/// alphabet.
enum ChecksumWords {
    /// The value with its checksums replaced; nil if there are none.
    ///
    /// - replace: returns the replacement for a word, or nil if it is not a checksum. Called first with the padding of base64, then
    ///   without. A word in the URL-safe alphabet is passed whole, and then from after each hyphen.
    /// - missed: called after a word in which nothing was replaced.
    static func replaced(
        in value: String, missed: () -> Void = {}, _ replace: (_ word: String) throws -> String?
    ) rethrows -> String? {
        let bytes = Array(value.utf8)
        var output: [UInt8] = []
        var isChanged = false
        var offset = 0
        while offset < bytes.count {
            guard Self.isOfBase64(bytes[offset]) || Self.isURLSafe(bytes[offset]) else {
                output.append(bytes[offset])
                offset += 1
                continue
            }
            var end = offset
            while end < bytes.count, Self.isOfBase64(bytes[end]) || Self.isURLSafe(bytes[end]) { end += 1 }
            var start = offset
            var found = false
            // Tries the whole word, then the part after each mark, each up to the end and up to the next mark.
            search: while start < end {
                let next = (start..<end).first { Self.isURLSafe(bytes[$0]) } ?? end
                for last in next < end ? [end, next] : [end] where last > start {
                    for word in Self.spellings(bytes, start..<last) {
                        guard let new = try replace(String(decoding: bytes[word], as: UTF8.self)) else { continue }
                        output += bytes[offset..<start]
                        output += new.utf8
                        (offset, start) = (word.upperBound, word.upperBound)
                        (found, isChanged) = (true, true)
                        continue search
                    }
                }
                start = next + 1
            }
            if !found { missed() }
            if offset < end {
                output += bytes[offset..<end]
                offset = end
            }
        }
        return isChanged ? String(decoding: output, as: UTF8.self) : nil
    }

    /// Whether a text contains a matching word. Only looks at words that are as long as a digest.
    static func contains(in text: UnsafeRawBufferPointer, where isMeant: (_ word: String) -> Bool) -> Bool {
        var start = 0
        while start + self.shortest <= text.count {
            let probe = start + self.shortest - 1
            guard self.isOfBase64(text[probe]) || self.isURLSafe(text[probe]) else {
                start = probe + 1
                continue
            }
            var (first, end) = (probe, probe + 1)
            while first > start, self.isOfBase64(text[first - 1]) || self.isURLSafe(text[first - 1]) { first -= 1 }
            while end < text.count, self.isOfBase64(text[end]) || self.isURLSafe(text[end]) { end += 1 }
            if end - first >= self.shortest, end - first <= self.longest {
                var word = first
                while word < end {
                    let padded = (end..<min(end + 2, text.count)).prefix { text[$0] == UInt8(ascii: "=") }.last.map { $0 + 1 } ?? end
                    for last in Set([end, padded]) where isMeant(String(decoding: text[word..<last], as: UTF8.self)) { return true }
                    word = ((word..<end).first { self.isURLSafe(text[$0]) } ?? end) + 1
                }
            }
            start = end + 1
        }
        return false
    }

    /// Length of the shortest digest: MD5 in base64 without padding.
    private static let shortest = 22
    /// Longer words are data, not digests.
    private static let longest = 256

    /// The word with its padding, and without.
    private static func spellings(_ bytes: [UInt8], _ word: Range<Int>) -> [Range<Int>] {
        var end = word.upperBound
        while end < bytes.count, end - word.upperBound < 2, bytes[end] == UInt8(ascii: "=") { end += 1 }
        return end > word.upperBound ? [word.lowerBound..<end, word] : [word]
    }

    private static func isURLSafe(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") }

    private static func isOfBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
