internal import CassetteModel
internal import TapeBytes

/// Secrets by what they look like, at the anchors that the survey meets.
extension TextSurvey {
    /// Bytes to both sides of an AWS key id among which the secret key that belongs to it may stand.
    private static let nearby = 256

    mutating func shapes(_ indices: [Int], anchorAt offset: Int) {
        for index in indices {
            let shape = SecretShape.all[index]
            guard let range = shape.range(in: self.text, anchorAt: offset) else { continue }
            self.found(shape.kind, range)
            if shape.kind == "aws-key" { self.secretKey(near: range) }
        }
    }

    /// The 40 characters that go with an AWS key id.
    private mutating func secretKey(near key: Range<Int>) {
        let end = min(self.text.count, key.upperBound + Self.nearby)
        var start = max(0, key.lowerBound - Self.nearby)
        while start < end {
            var last = start
            while last < self.text.count, last - start <= 41, Self.mayStandInSecretKey(self.text[last]) { last += 1 }
            if last - start == 40, Self.isRandom(UnsafeRawBufferPointer(rebasing: self.text[start..<last])) {
                self.found("aws-secret", start..<last)
            }
            while last < end, Self.mayStandInSecretKey(self.text[last]) { last += 1 }
            start = last + 1
        }
    }

    private static func mayStandInSecretKey(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "+")
    }

    /// Not a digest in hex, nor a path.
    private static func isRandom(_ text: UnsafeRawBufferPointer) -> Bool {
        text.contains { $0 >= 65 && $0 <= 90 } && text.contains { $0 >= 97 && $0 <= 122 } && text.contains { $0 >= 48 && $0 <= 57 }
            && text.contains { $0 > 102 || ($0 > 70 && $0 < 97) }
    }

    /// A JSON Web Token: three segments, or five where it is encrypted (RFC 7515, 7.1; RFC 7516, 7.1).
    mutating func webToken(at start: Int) {
        guard start == 0 || !SecretShape.Alphabet.word.contains(self.text[start - 1]) else { return }
        var segments = 0
        var end = start
        var position = start
        while segments < 5 {
            var last = position
            while last < self.text.count, last - start <= Self.valueLimit, SecretShape.Alphabet.word.contains(self.text[last]) { last += 1 }
            // The first is a header; only an unsigned token's last is empty, and an encrypted one's second.
            if segments == 0, last - position < 10 { return }
            segments += 1
            end = last
            guard last < self.text.count, self.text[last] == UInt8(ascii: ".") else { break }
            position = last + 1
        }
        guard segments == 3 || segments == 5, end - start >= 24, end - start <= Self.valueLimit else { return }
        self.found("jwt", start..<end)
    }

    /// What stands between the armour lines of a private key (RFC 7468).
    mutating func privateKey(at offset: Int) {
        guard let block = PrivateKeyBlock(self.text, beginAt: offset, limit: Self.valueLimit) else { return }
        self.found("private-key", block.range, pieces: block.lines, secret: block.lines.isEmpty ? nil : block.lines.flatMap { $0 })
    }

    private mutating func found(_ kind: String, _ range: Range<Int>, pieces: [[UInt8]] = [], secret: [UInt8]? = nil) {
        guard self.isWhole(range) else { return }
        let secret = secret ?? Array(self.text[range])
        self.findings.append(Finding(kind: kind, range: range, secret: secret, spelling: .plain, pieces: pieces))
    }
}

/// A private key in armour: `-----BEGIN … PRIVATE KEY-----` (RFC 7468, 10; OpenSSH's and PGP's too).
struct PrivateKeyBlock {
    /// Between the armour lines, without the line ends beside them.
    let range: Range<Int>
    /// Its lines of some length.
    let lines: [[UInt8]]

    /// Longest label: `-----BEGIN ENCRYPTED PRIVATE KEY-----` has 37 characters.
    private static let labelLimit = 64
    private static let shortestLine = 12

    /// - Parameter offset: of `BEGIN`.
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
        // A key that is cut, or has no end, ends where no key's bytes stand.
        while close < most, !Self.isDashes(text, close), Self.mayHold(text[close]) { close += 1 }
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        var first: Int?
        var last = start
        var index = start
        while index < close {
            if text[index] == UInt8(ascii: "\\"), index + 1 < close {
                // `\n` in JSON, again and again escaped.
                Self.end(&line, &lines)
                index += text[index + 1] == UInt8(ascii: "\\") ? 1 : 2
            } else if text[index] == UInt8(ascii: "%"), index + 2 < close, let high = Hex.value(text[index + 1]),
                let low = Hex.value(text[index + 2])
            {
                // A form's line ends, plus signs and slashes.
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

    /// Base64, header lines of old formats, line ends in any spelling; neither quotes nor what divides a form's fields or opens an element.
    private static func mayHold(_ byte: UInt8) -> Bool {
        byte > 32 && byte < 127 ? ![34, 38, 39, 60].contains(byte) : byte <= 32
    }
}
