internal import CassetteModel

/// Secrets by what they look like, at the anchors that the survey meets.
extension TextSurvey {
    /// Octets to both sides of an AWS key id among which the secret key that belongs to it may stand.
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

    private static func mayStandInSecretKey(_ octet: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(octet) || octet == UInt8(ascii: "/") || octet == UInt8(ascii: "+")
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
