/// Where a number of JSON stands in a text (RFC 8259, 6), without a parser.
enum JSONNumberText {
    @inline(__always)
    static func mayHold(_ byte: UInt8) -> Bool {
        byte >= 48 && byte <= 57 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            || byte | 32 == UInt8(ascii: "e")
    }

    /// The whole number that a range is part of, where JSON would have a value there; nil where it is part of anything else.
    static func around(_ range: Range<Int>, in text: UnsafeRawBufferPointer) -> Range<Int>? {
        guard range.allSatisfy({ self.mayHold(text[$0]) }) else { return nil }
        var (start, end) = (range.lowerBound, range.upperBound)
        while start > 0, range.lowerBound - start < 64, self.mayHold(text[start - 1]) { start -= 1 }
        while end < text.count, end - range.upperBound < 64, self.mayHold(text[end]) { end += 1 }
        var before = start
        while before > 0, start - before < 64, text[before - 1] <= 32 { before -= 1 }
        var behind = end
        while behind < text.count, behind - end < 64, text[behind] <= 32 { behind += 1 }
        let opens: Set<UInt8> = [UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "[")]
        let closes: Set<UInt8> = [UInt8(ascii: "}"), UInt8(ascii: ","), UInt8(ascii: "]")]
        let begins = before == 0 ? start == 0 && end == text.count : opens.contains(text[before - 1])
        let ends = behind == text.count ? start == 0 && before == 0 : closes.contains(text[behind])
        return begins && ends ? start..<end : nil
    }
}
