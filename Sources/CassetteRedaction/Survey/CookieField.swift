internal import CassetteModel
internal import TapeBytes

/// Finds the values of cookies in a Cookie or Set-Cookie field (RFC 6265, 4). Names and attributes are kept.
enum CookieField {
    /// - Parameter isEscaped: whether it is in a string of JSON or a program, where quotes are escaped by a backslash.
    static func findings(
        in text: UnsafeRawBufferPointer, _ range: Range<Int>, isSet: Bool, isEscaped: Bool = false
    ) -> [Finding] {
        func isAround(_ byte: UInt8) -> Bool {
            byte <= 32 || byte == UInt8(ascii: "\"") || isEscaped && byte == UInt8(ascii: "\\")
        }
        var findings: [Finding] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = ByteScan.index(
                of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(rebasing: text[..<range.upperBound]), from: start)
            let equals = (start..<end).first { text[$0] == UInt8(ascii: "=") }
            // A cookie without a name has only a value (RFC 6265bis, 5.6).
            var (lower, upper) = (equals.map { $0 + 1 } ?? start, end)
            while lower < upper, isAround(text[lower]) { lower += 1 }
            while lower < upper, isAround(text[upper - 1]) { upper -= 1 }
            let value = UnsafeRawBufferPointer(rebasing: text[lower..<upper])
            if !value.isEmpty, !Placeholder.isAll(value) {
                var name = start..<(equals ?? start)
                while let first = name.first, isAround(text[first]) { name.removeFirst() }
                while let last = name.last, isAround(text[last]) { name.removeLast() }
                var finding = Finding(kind: "cookie", range: lower..<upper, secret: Array(value), spelling: .plain, isSure: false)
                let isHidden = isSet && Self.isHidden(text, end..<range.upperBound)
                finding.cookie = Finding.Cookie(
                    name: Array(text[name]), isHidden: isHidden, isPreference: !isHidden && Self.isPreference(text[name], value))
                findings.append(finding)
            }
            if isSet { break }
            start = end + 1
        }
        return findings
    }

    /// Whether a text begins like one of these fields: with a name, which is a token (RFC 9110, 5.6.2), and an equals sign.
    static func mayBe(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard let equals = range.prefix(128).first(where: { text[$0] == UInt8(ascii: "=") }), equals > range.lowerBound else {
            return false
        }
        return (range.lowerBound..<equals).allSatisfy {
            FormSpelling.isAlphanumeric(text[$0]) || "_-.$!%*+~|".utf8.contains(text[$0])
        }
    }

    /// Whether the attributes of a cookie hide it from scripts (RFC 6265, 5.2.6).
    private static func isHidden(_ text: UnsafeRawBufferPointer, _ attributes: Range<Int>) -> Bool {
        text[attributes].split(separator: UInt8(ascii: ";")).contains { attribute in
            attribute.filter { $0 > 32 }.map { $0 | 32 }.starts(with: "httponly".utf8)
        }
    }

    // MARK: Preferences

    /// Parts of cookie names that identify users or sessions.
    private static let identities: [StaticString] = [
        "sess", "sid", "auth", "tok", "tkn", "jwt", "csrf", "xsrf", "secret", "pass", "pwd", "login", "logged", "logon", "user", "usr",
        "account", "acct", "uid", "remember", "key", "sig", "sso", "saml", "ticket", "cred", "nonce", "otp", "state", "code", "access",
        "refresh", "bearer", "ident", "visitor", "guid", "uuid", "device", "client", "customer", "member", "mail", "phone", "hash", "track",
        "pin", "role", "admin",
    ]
    private static let valueLimit = 256
    private static let wordLimit = 24
    private static let digitLimit = 6

    /// Whether a cookie that scripts can read is a preference: its name identifies nobody, and its value is a word, a short number, or a
    /// small JSON text of these.
    private static func isPreference(_ name: Slice<UnsafeRawBufferPointer>, _ value: UnsafeRawBufferPointer) -> Bool {
        guard !name.isEmpty, value.count <= Self.valueLimit, !Self.mayIdentify(name) else { return false }
        if Self.isPlain(value) { return true }
        let decoded = Finding.Spelling.query.decode(value) ?? []
        if decoded.count < value.count, Self.isPlain(decoded) { return true }
        guard let first = decoded.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["), let document = try? JSONDocument(decoded)
        else { return false }
        return Self.isPlain(document.root, depth: 0)
    }

    private static func mayIdentify(_ name: some Collection<UInt8>) -> Bool {
        guard SecretNames.meaning(ofMember: name) == nil else { return true }
        let letters = name.filter(FormSpelling.isAlphanumeric).map { $0 | 32 }
        // `userId`, `ID`
        if letters.suffix(2).elementsEqual("id".utf8) || letters.suffix(2).elementsEqual("pw".utf8) { return true }
        // It has the letters of a session's id.
        if letters.starts(with: "sidebar".utf8) { return false }
        return letters.withUnsafeBytes { letters in Self.identities.contains { ByteSearch.contains($0, in: letters) } }
    }

    /// Whether a value is one word of any script, several separated by punctuation (`en-US`, `Europe/Berlin`, `red,blue`), a word with a
    /// digit after it (`dark2`), a colour, or a few short numbers (`1.5`, `-60`, `1920x1080`).
    private static func isPlain(_ value: some Collection<UInt8>) -> Bool {
        guard !value.isEmpty, value.count <= Self.wordLimit else { return false }
        let digits = value.count { $0 >= 48 && $0 <= 57 }
        if digits == 0 {
            return value.allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 >= 128 || "-_./ ,+|:".utf8.contains($0) }
                && PlainWords.isLetters(value.filter { !"_/+|".utf8.contains($0) })
        }
        if value.first == UInt8(ascii: "#") { return value.count == 7 && value.dropFirst().allSatisfy { Hex.value($0) != nil } }
        if value.allSatisfy({ $0 >= 48 && $0 <= 57 || "-+.,:x".utf8.contains($0) }) {
            return digits <= Self.digitLimit + 2 && value.split { $0 < 48 || $0 > 57 }.allSatisfy { $0.count <= Self.digitLimit }
        }
        let letters = value.prefix { ($0 | 32) >= 97 && ($0 | 32) <= 122 }.count
        return digits == 1 && letters >= 3 && letters == value.count - 1
    }

    private static func isPlain(_ value: JSONValue, depth: Int) -> Bool {
        switch value.kind {
        case .true, .false, .null: return true
        case .string: return value.utf8.map { $0.isEmpty || Self.isPlain($0) || Self.isArticle($0) } ?? false
        case .number: return Self.isPlain(value.raw.filter { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "-") })
        case .array: return depth < 3 && value.elements.allSatisfy { Self.isPlain($0, depth: depth + 1) }
        case .object:
            return depth < 3
                && value.members.allSatisfy { member in
                    // The number of an article.
                    if member.name.string == "id", member.value.kind == .number { return Self.isPlain(member.value, depth: depth + 1) }
                    return !Self.mayIdentify(member.name.utf8 ?? []) && Self.isPlain(member.value, depth: depth + 1)
                }
        }
    }

    /// `A1`, `XL-42`: too short to identify anybody.
    private static func isArticle(_ value: [UInt8]) -> Bool {
        value.count <= Self.digitLimit && value.allSatisfy { $0 >= 65 && $0 <= 90 || $0 >= 48 && $0 <= 57 || $0 == UInt8(ascii: "-") }
    }
}
