internal import CassetteModel

/// A secret that is recognised by its shape anywhere: a prefix assigned by its issuer, followed by random characters.
struct SecretShape: Sendable {
    var kind: String
    var prefix: StaticString
    /// The offset in the prefix of four bytes that few texts contain.
    var anchor: Int
    var alphabet: Alphabet
    /// How many characters follow the prefix.
    var length: ClosedRange<Int>
    /// How many bytes of the prefix are kept, since they are not secret.
    var kept = 0

    enum Alphabet: Sendable {
        case upperAndDigits, alphanumeric, word, base64, path, escaped
        /// Digits, a colon and a word.
        case numberAndWord

        @inline(__always)
        func contains(_ byte: UInt8) -> Bool {
            switch self {
            case .upperAndDigits: byte >= 65 && byte <= 90 || byte >= 48 && byte <= 57
            case .alphanumeric: FormSpelling.isAlphanumeric(byte)
            case .word: FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            case .base64:
                FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            case .escaped: FormSpelling.isAlphanumeric(byte) || [37, 43, 45, 47, 61, 95].contains(byte)
            case .path: Self.word.contains(byte) || byte == UInt8(ascii: "/")
            case .numberAndWord: Self.word.contains(byte) || byte == UInt8(ascii: ":")
            }
        }
    }

    /// The longest tail. Tokens without a fixed length have a few hundred characters.
    private static let most = 4096

    /// The longest armour in base64. That of an RSA key of 16,384 bits has 17,000 characters.
    private static let longest = 64 << 10

    /// docs/redaction.md gives the source of each.
    static let all: [SecretShape] = [
        SecretShape(kind: "aws-key", prefix: "AKIA", anchor: 0, alphabet: .upperAndDigits, length: 16...16),
        SecretShape(kind: "aws-key", prefix: "ASIA", anchor: 0, alphabet: .upperAndDigits, length: 16...16),
        SecretShape(kind: "github-token", prefix: "ghp_", anchor: 0, alphabet: .alphanumeric, length: 36...255),
        SecretShape(kind: "github-token", prefix: "gho_", anchor: 0, alphabet: .alphanumeric, length: 36...255),
        SecretShape(kind: "github-token", prefix: "ghu_", anchor: 0, alphabet: .alphanumeric, length: 36...255),
        SecretShape(kind: "github-token", prefix: "ghs_", anchor: 0, alphabet: .alphanumeric, length: 36...255),
        SecretShape(kind: "github-token", prefix: "ghr_", anchor: 0, alphabet: .alphanumeric, length: 36...255),
        SecretShape(kind: "github-token", prefix: "github_pat_", anchor: 6, alphabet: .word, length: 22...255),
        SecretShape(kind: "gitlab-token", prefix: "glpat-", anchor: 0, alphabet: .word, length: 20...300),
        SecretShape(kind: "slack-token", prefix: "xoxb-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xoxp-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xoxa-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xoxo-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xoxr-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xoxs-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xoxe-", anchor: 0, alphabet: .word, length: 10...Self.most),
        SecretShape(kind: "slack-token", prefix: "xapp-", anchor: 0, alphabet: .word, length: 20...Self.most),
        SecretShape(kind: "slack-hook", prefix: "hooks.slack.com/services/", anchor: 6, alphabet: .path, length: 20...255, kept: 25),
        SecretShape(kind: "slack-hook", prefix: "hooks.slack.com/workflows/", anchor: 6, alphabet: .path, length: 20...255, kept: 26),
        SecretShape(kind: "slack-token", prefix: "xoxd-", anchor: 0, alphabet: .escaped, length: 10...Self.most),
        SecretShape(kind: "google-key", prefix: "AIza", anchor: 0, alphabet: .word, length: 35...35),
        SecretShape(kind: "google-token", prefix: "ya29.", anchor: 0, alphabet: .word, length: 20...Self.most),
        SecretShape(kind: "google-token", prefix: "1//0", anchor: 0, alphabet: .word, length: 30...Self.most),
        SecretShape(kind: "google-secret", prefix: "GOCSPX-", anchor: 0, alphabet: .word, length: 20...64),
        SecretShape(kind: "stripe-key", prefix: "sk_live_", anchor: 0, alphabet: .alphanumeric, length: 10...255),
        SecretShape(kind: "stripe-key", prefix: "rk_live_", anchor: 0, alphabet: .alphanumeric, length: 10...255),
        SecretShape(kind: "stripe-key", prefix: "sk_test_", anchor: 0, alphabet: .alphanumeric, length: 10...255),
        SecretShape(kind: "stripe-key", prefix: "rk_test_", anchor: 0, alphabet: .alphanumeric, length: 10...255),
        SecretShape(kind: "stripe-secret", prefix: "whsec_", anchor: 0, alphabet: .base64, length: 16...255),
        SecretShape(kind: "openai-key", prefix: "sk-proj-", anchor: 0, alphabet: .word, length: 20...Self.most),
        SecretShape(kind: "anthropic-key", prefix: "sk-ant-", anchor: 0, alphabet: .word, length: 20...Self.most),
        SecretShape(kind: "npm-token", prefix: "npm_", anchor: 0, alphabet: .alphanumeric, length: 36...36),
        SecretShape(kind: "vault-token", prefix: "hvs.", anchor: 0, alphabet: .word, length: 24...255),
        SecretShape(kind: "vault-token", prefix: "hvb.", anchor: 0, alphabet: .word, length: 24...Self.most),
        // The id of the bot and its secret (Telegram Bot API, "Authorizing your bot").
        SecretShape(kind: "telegram-token", prefix: "/bot", anchor: 0, alphabet: .numberAndWord, length: 38...64, kept: 4),
        SecretShape(kind: "discord-hook", prefix: "/webhooks/", anchor: 1, alphabet: .path, length: 75...128, kept: 10),
        // CAS tickets that represent a login (CAS Protocol 3.0, 3.4 to 3.6).
        SecretShape(kind: "ticket", prefix: "TGT-", anchor: 0, alphabet: .word, length: 20...1024),
        SecretShape(kind: "ticket", prefix: "PGT-", anchor: 0, alphabet: .word, length: 20...1024),
        SecretShape(kind: "shopify-token", prefix: "shpat_", anchor: 0, alphabet: .alphanumeric, length: 32...32),
        // Armour in base64, as in cluster configurations.
        Self.armour("LS0tLS1CRUdJTiBQUklWQVRFIEtFW"),
        Self.armour("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRV"),
        Self.armour("LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFW"),
        Self.armour("LS0tLS1CRUdJTiBEU0EgUFJJVkFURSBLRV"),
        Self.armour("LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ"),
        Self.armour("LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRV"),
        Self.armour("LS0tLS1CRUdJTiBQR1AgUFJJVkFURSBLRVkgQkxPQ0"),
    ]

    private static func armour(_ prefix: StaticString) -> SecretShape {
        SecretShape(kind: "private-key", prefix: prefix, anchor: 7, alphabet: .base64, length: 40...Self.longest)
    }

    /// Where the prefix begins whose anchor is at an offset; nil if it is not there, or not followed by enough.
    private func start(in text: UnsafeRawBufferPointer, anchorAt offset: Int) -> Int? {
        let start = offset - self.anchor
        let count = self.prefix.utf8CodeUnitCount
        guard start >= 0, text.count - start >= count + self.length.lowerBound else { return nil }
        for index in 0..<count where text[start + index] != self.prefix.utf8Start[index] { return nil }
        // Part of a longer word, usually base64 of something else.
        if start > 0, self.kept == 0, FormSpelling.isAlphanumeric(text[start - 1]) { return nil }
        return start
    }

    /// Where the characters end that may follow the prefix, however many there are; nil if there is no prefix.
    func runEnd(in text: UnsafeRawBufferPointer, anchorAt offset: Int) -> Int? {
        guard let start = self.start(in: text, anchorAt: offset) else { return nil }
        return text[(start + self.prefix.utf8CodeUnitCount)...].firstIndex { !self.alphabet.contains($0) } ?? text.count
    }

    /// The token whose anchor is at an offset; nil if there is none.
    func range(in text: UnsafeRawBufferPointer, anchorAt offset: Int) -> Range<Int>? {
        guard let start = self.start(in: text, anchorAt: offset) else { return nil }
        let count = self.prefix.utf8CodeUnitCount
        var end = start + count
        let most = min(text.count, end + self.length.upperBound)
        while end < most, self.alphabet.contains(text[end]) { end += 1 }
        guard end - start - count >= self.length.lowerBound else { return nil }
        if end < text.count, end == most, self.alphabet.contains(text[end]) { return nil }
        if self.alphabet == .numberAndWord, !Self.isNumberAndWord(text[(start + count)..<end]) { return nil }
        return start + self.kept..<end
    }

    private static func isNumberAndWord(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
        let digits = text.prefix { $0 >= 48 && $0 <= 57 }
        return digits.count >= 6 && text.dropFirst(digits.count).first == UInt8(ascii: ":")
            && !text.dropFirst(digits.count + 1).contains(UInt8(ascii: ":"))
    }
}

/// Finds secrets by their shape, at the anchors that the survey of a text encounters.
struct ShapeSurvey {
    let text: SurveyText

    /// Where the run of characters ends that was read last for a shape. The first prefix in a run begins its token, so none begins within it,
    /// and a prefix that is repeated costs no more than once.
    private var runEnds: [Int: Int] = [:]

    init(text: SurveyText) { self.text = text }

    /// How many bytes before and after an AWS key id its secret key is searched for.
    private static let nearby = 256

    /// - Parameter indices: the indices of the shapes with the anchor at this offset.
    mutating func findings(_ indices: [Int], anchorAt offset: Int) -> [Finding] {
        var findings: [Finding] = []
        for index in indices {
            let shape = SecretShape.all[index]
            guard offset >= self.runEnds[index] ?? 0, let end = shape.runEnd(in: self.text.bytes, anchorAt: offset) else { continue }
            self.runEnds[index] = end
            guard let range = shape.range(in: self.text.bytes, anchorAt: offset) else { continue }
            if let found = self.finding(shape.kind, range) { findings.append(found) }
            if shape.kind == "aws-key" { findings += self.secretKeys(near: range) }
        }
        return findings
    }

    /// The 40-character secret key that belongs to an AWS key id.
    private func secretKeys(near key: Range<Int>) -> [Finding] {
        var findings: [Finding] = []
        let end = min(self.text.bytes.count, key.upperBound + Self.nearby)
        var start = max(0, key.lowerBound - Self.nearby)
        while start < end {
            var last = start
            while last < self.text.bytes.count, last - start <= 41, Self.mayBeInSecretKey(self.text.bytes[last]) { last += 1 }
            if last - start == 40, Self.isRandom(UnsafeRawBufferPointer(rebasing: self.text.bytes[start..<last])),
                let found = self.finding("aws-secret", start..<last)
            {
                findings.append(found)
            }
            while last < end, Self.mayBeInSecretKey(self.text.bytes[last]) { last += 1 }
            start = last + 1
        }
        return findings
    }

    private static func mayBeInSecretKey(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "+")
    }

    /// Whether a text is neither a hex digest nor a path.
    private static func isRandom(_ text: UnsafeRawBufferPointer) -> Bool {
        text.contains { $0 >= 65 && $0 <= 90 } && text.contains { $0 >= 97 && $0 <= 122 } && text.contains { $0 >= 48 && $0 <= 57 }
            && text.contains { $0 > 102 || ($0 > 70 && $0 < 97) }
    }

    /// A JSON Web Token: three segments, or five if it is encrypted (RFC 7515, 7.1; RFC 7516, 7.1).
    func webToken(at start: Int) -> Finding? {
        guard start == 0 || !SecretShape.Alphabet.word.contains(self.text.bytes[start - 1]),
            Placeholder.length(in: self.text.bytes, at: start) == nil, !self.isSegmentOfToken(start)
        else { return nil }
        var ends: [Int] = []
        var position = start
        while ends.count < 5 {
            var last = position
            while last < self.text.bytes.count, last - start <= NamedValue.limit, SecretShape.Alphabet.word.contains(self.text.bytes[last])
            { last += 1 }
            // The first segment is a header. Only the last segment of an unsigned token is empty, or the second of an encrypted one.
            if ends.isEmpty, last - position < 10 { return nil }
            // The dot after the third segment ends a sentence, or begins a filename extension.
            if ends.count >= 3, last == position { break }
            ends.append(last)
            position = last
            guard last < self.text.bytes.count, self.text.bytes[last] == UInt8(ascii: ".") else { break }
            position = last + 1
        }
        guard ends.count >= 3, self.text.isWhole(start..<position) else { return nil }
        let end = ends[ends.count == 5 ? 4 : 2]
        guard end - start >= 24, end - start <= NamedValue.limit else { return nil }
        return self.finding("jwt", start..<end)
    }

    /// A JSON Web Token in a text that was truncated within it.
    func cutWebToken(at start: Int) -> Range<Int>? {
        guard start == 0 || !SecretShape.Alphabet.word.contains(self.text.bytes[start - 1]),
            Placeholder.length(in: self.text.bytes, at: start) == nil
        else { return nil }
        let end = self.text.bytes[start...].firstIndex { !SecretShape.Alphabet.word.contains($0) && $0 != UInt8(ascii: ".") }
        // A truncated text ends with "…".
        guard let end, end - start >= 10, self.text.bytes[end...].starts(with: "…".utf8) else { return nil }
        return start..<end
    }

    /// Whether the text before a dot looks like the header of a token, which is then found from there.
    private func isSegmentOfToken(_ start: Int) -> Bool {
        guard start > 0, self.text.bytes[start - 1] == UInt8(ascii: ".") else { return false }
        var first = start - 1
        while first > 0, start - first <= NamedValue.limit, SecretShape.Alphabet.word.contains(self.text.bytes[first - 1]) { first -= 1 }
        return start - 1 - first >= 10 && self.text.bytes[first..<start].starts(with: "eyJ".utf8)
    }

    /// The text between the armour lines of a private key (RFC 7468).
    func privateKey(at offset: Int) -> Finding? {
        guard let block = PrivateKeyBlock(self.text.bytes, beginAt: offset, limit: NamedValue.limit) else { return nil }
        return self.finding("private-key", block.range, pieces: block.lines, secret: block.lines.isEmpty ? nil : block.lines.flatMap { $0 })
    }

    private func finding(_ kind: String, _ range: Range<Int>, pieces: [[UInt8]] = [], secret: [UInt8]? = nil) -> Finding? {
        guard self.text.isWhole(range) else { return nil }
        let secret = secret ?? Array(self.text.bytes[range])
        return Finding(kind: kind, range: range, secret: secret, spelling: .plain, pieces: pieces)
    }
}
