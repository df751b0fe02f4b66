internal import CassetteModel
internal import TapeBytes

/// A private key in armour: `-----BEGIN … PRIVATE KEY-----` (RFC 7468, 10; also those of OpenSSH and PGP).
struct PrivateKeyBlock {
    /// The range between the armour lines, without adjacent line ends.
    let range: Range<Int>
    /// Its lines of at least a certain length.
    let lines: [[UInt8]]

    /// The longest label: `-----BEGIN ENCRYPTED PRIVATE KEY-----` has 37 characters.
    private static let labelLimit = 64
    private static let shortestLine = 12

    /// - Parameter offset: the offset of `BEGIN`.
    init?(_ text: UnsafeRawBufferPointer, beginAt offset: Int, limit: Int) {
        guard Self.isDashes(text, offset - 5) else { return nil }
        var end = offset
        while end < text.count, end - offset < Self.labelLimit, text[end] != UInt8(ascii: "-") { end += 1 }
        let label = UnsafeRawBufferPointer(rebasing: text[offset..<min(end, text.count)])
        guard ByteSearch.contains("PRIVATE KEY", in: label) || ByteSearch.contains("PRIVATE+KEY", in: label), Self.isDashes(text, end)
        else { return nil }
        let start = end + 5
        var close = start
        let most = min(text.count, start + limit)
        // A key that is cut or has no end extends to the first byte that cannot belong to a key.
        while close < most, !Self.isDashes(text, close), Self.mayHold(text[close]) { close += 1 }
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        var first: Int?
        var last = start
        var index = start
        while index < close {
            if text[index] == UInt8(ascii: "\\"), index + 1 < close {
                // `\n` in JSON, possibly escaped several times.
                Self.end(&line, &lines)
                index += text[index + 1] == UInt8(ascii: "\\") ? 1 : 2
            } else if text[index] == UInt8(ascii: "%"), index + 2 < close, let high = Hex.value(text[index + 1]),
                let low = Hex.value(text[index + 2])
            {
                // Line ends, plus signs and slashes of a form.
                let byte = high << 4 | low
                if byte <= 32 { Self.end(&line, &lines) } else { line.append(byte) }
                if byte > 32 || first != nil { (first, last) = (first ?? index, byte > 32 ? index + 3 : last) }
                index += 3
            } else if text[index] <= 32 || text[index] == UInt8(ascii: "\\") {
                Self.end(&line, &lines)
                index += 1
            } else {
                line.append(text[index])
                first = first ?? index
                index += 1
                last = index
            }
        }
        Self.end(&line, &lines)
        guard let first, !Placeholder.isWhole(UnsafeRawBufferPointer(rebasing: text[first..<last])) else { return nil }
        self.range = first..<last
        self.lines = lines
    }

    private static func end(_ line: inout [UInt8], _ lines: inout [[UInt8]]) {
        if line.count >= self.shortestLine { lines.append(line) }
        line = []
    }

    private static func isDashes(_ text: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        guard offset >= 0, text.count - offset >= 5 else { return false }
        return (offset..<offset + 5).allSatisfy { text[$0] == UInt8(ascii: "-") }
    }

    /// Whether a byte may be in a key: base64, header lines of old formats, and line ends in any spelling, but not quotes, separators of
    /// form fields, or the start of an element.
    private static func mayHold(_ byte: UInt8) -> Bool {
        byte > 32 && byte < 127 ? ![34, 38, 39, 60].contains(byte) : byte <= 32
    }
}
