internal import CassetteModel
internal import Platform
internal import TapeBytes

/// Finds user names and passwords in URLs: `scheme://user:password@host` (RFC 3986, 3.2.1), and `jdbc:oracle:thin:user/password@host`.
struct URLUserSurvey {
    /// The longest user information of a URL.
    private static let limit = 512

    private let text: SurveyText

    static func findings(in text: SurveyText) -> [Finding] { URLUserSurvey(text: text).findings() }

    private func findings() -> [Finding] {
        guard let base = self.text.bytes.baseAddress else { return [] }
        var findings: [Finding] = []
        var from = 0
        while from < self.text.bytes.count, let found = memchr(base + from, Int32(UInt8(ascii: "@")), self.text.bytes.count - from) {
            let at = UnsafeRawPointer(found) - base
            from = at + 1
            var start = at
            while start > 0, at - start <= Self.limit, !Self.endsUser(self.text.bytes[start - 1]) { start -= 1 }
            if start < at, self.isBehindOracleUser(start),
                let found = self.text.finding(start..<at, SecretNames.Meaning(kind: "password"), .plain)
            {
                findings.append(found)
            }
            if let range = self.passwordOfAddress(start, at),
                let found = self.text.finding(range, SecretNames.Meaning(kind: "password"), .plain)
            {
                findings.append(found)
            }
            guard start > 2, self.text.bytes[start - 1] == UInt8(ascii: "/"), self.text.bytes[start - 2] == UInt8(ascii: "/"),
                self.text.bytes[start - 3] == UInt8(ascii: ":"), start < at, self.endsScheme(start - 3),
                UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: self.text.bytes[start..<at]))
            else { continue }
            findings += self.findings(start, at)
        }
        return findings
    }

    /// Whether a user's name and a slash precede an offset, as in URLs of Oracle's driver (JDBC Developer's Guide, "Database URLs").
    private func isBehindOracleUser(_ start: Int) -> Bool {
        guard start > 1, self.text.bytes[start - 1] == UInt8(ascii: "/") else { return false }
        var name = start - 1
        while name > 0, start - name <= Self.limit, self.text.bytes[name - 1] != UInt8(ascii: ":"),
            !Self.endsUser(self.text.bytes[name - 1])
        {
            name -= 1
        }
        guard name < start - 1 else { return false }
        return ["jdbc:oracle:thin:", "jdbc:oracle:oci:", "jdbc:oracle:oci8:"].contains { prefix in
            name >= prefix.utf8.count && self.text.bytes[name - prefix.utf8.count..<name].elementsEqual(prefix.utf8)
        }
    }

    /// The password in `user:X@tcp(host)`, as MySQL's driver for Go writes it (Go-MySQL-Driver, "DSN"); nil for anything else.
    private func passwordOfAddress(_ start: Int, _ at: Int) -> Range<Int>? {
        guard self.text.isWord("tcp(", endingAt: at + 5) || self.text.isWord("unix(", endingAt: at + 6) else { return nil }
        var colon = start
        while colon < at, self.text.bytes[colon] != UInt8(ascii: ":") {
            colon += Placeholder.length(in: self.text.bytes, at: colon) ?? 1
        }
        return colon + 1 < at ? colon + 1..<at : nil
    }

    /// Whether at least two letters or digits precede a colon. Shorter ones occur by chance in a few MiB of an archive.
    private func endsScheme(_ colon: Int) -> Bool {
        colon >= 2 && FormSpelling.isAlphanumeric(self.text.bytes[colon - 1]) && FormSpelling.isAlphanumeric(self.text.bytes[colon - 2])
    }

    private static func endsUser(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "@"), UInt8(ascii: "("), 0...32:
            true
        default: false
        }
    }

    /// The longest user's name that is a word, in bytes.
    private static let wordLimit = 16

    private func isWord(_ name: Range<Int>) -> Bool {
        name.count < Self.wordLimit
            && name.allSatisfy {
                (self.text.bytes[$0] | 32) >= 97 && (self.text.bytes[$0] | 32) <= 122 || "._-".utf8.contains(self.text.bytes[$0])
            }
    }

    private func findings(_ start: Int, _ at: Int) -> [Finding] {
        // A placeholder that was cut has a colon and no end.
        guard !Placeholder.isAll(UnsafeRawBufferPointer(rebasing: self.text.bytes[start..<at]), mayBeCut: true) else { return [] }
        // A placeholder contains a colon of its own.
        var colon = start
        while colon < at, self.text.bytes[colon] != UInt8(ascii: ":") {
            colon += Placeholder.length(in: self.text.bytes, at: colon) ?? 1
        }
        let password = min(colon + 1, at)..<at
        let name = start..<min(colon, at)
        var findings: [Finding] = []
        // A name without a password, or a long name, is a token, unless it is a word: `git@`, `anonymous@`.
        let isToken = password.isEmpty ? !self.isWord(name) : name.count >= 20
        if isToken, let found = self.text.finding(name, SecretNames.Meaning(kind: "userinfo"), .user) {
            findings.append(found)
        }
        if !password.isEmpty, let found = self.text.finding(password, SecretNames.Meaning(kind: "password"), .user) {
            findings.append(found)
        }
        return findings
    }
}
