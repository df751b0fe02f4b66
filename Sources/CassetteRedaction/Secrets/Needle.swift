internal import CassetteModel
internal import TapeBytes

/// One spelling of a secret that is searched for. Its bytes are derived from the secret's bytes during comparison.
struct Needle {
    enum Form: Sendable, Hashable {
        case plain
        /// The characters of base64 that depend only on the secret, if it follows `alignment` bytes of a group.
        case base64(alignment: Int)
        /// Pairs of hex digits.
        case hex
        /// UTF-16 in either byte order, without the zero at its outer end.
        case wide
    }

    /// The forms, with the alphabets of base64 and hex as separate cases.
    enum Spelling: UInt8, Sendable, CaseIterable {
        case plain, base64, base64After1, base64After2, urlSafe, urlSafeAfter1, urlSafeAfter2, lowerHex, upperHex, wide
    }

    let spelling: Spelling
    /// The secret.
    let bytes: UnsafeRawBufferPointer
    let count: Int

    init(_ spelling: Spelling, of bytes: UnsafeRawBufferPointer) {
        self.spelling = spelling
        self.bytes = bytes
        switch spelling {
        case .plain: self.count = bytes.count
        case .base64, .base64After1, .base64After2, .urlSafe, .urlSafeAfter1, .urlSafeAfter2:
            let alignment = Self.alignment(spelling)
            self.count = max(0, (alignment + bytes.count) * 8 / 6 - Base64Run.offset(ofAlignment: alignment))
        case .lowerHex, .upperHex: self.count = 2 * bytes.count
        case .wide: self.count = max(0, 2 * bytes.count - 1)
        }
    }

    var form: Form {
        switch self.spelling {
        case .plain: .plain
        case .base64, .base64After1, .base64After2, .urlSafe, .urlSafeAfter1, .urlSafeAfter2:
            .base64(alignment: Self.alignment(self.spelling))
        case .lowerHex, .upperHex: .hex
        case .wide: .wide
        }
    }

    private static func alignment(_ spelling: Spelling) -> Int {
        switch spelling {
        case .base64After1, .urlSafeAfter1: 1
        case .base64After2, .urlSafeAfter2: 2
        case .plain, .base64, .urlSafe, .lowerHex, .upperHex, .wide: 0
        }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    subscript(_ index: Int) -> UInt8 {
        switch self.spelling {
        case .plain: return self.bytes[index]
        case .lowerHex, .upperHex:
            let digit = Hex.digit(index % 2 == 0 ? self.bytes[index / 2] >> 4 : self.bytes[index / 2] & 15)
            return self.spelling == .upperHex && digit >= 97 ? digit & ~32 : digit
        case .wide: return index % 2 == 0 ? self.bytes[index / 2] : 0
        case .base64, .base64After1, .base64After2, .urlSafe, .urlSafeAfter1, .urlSafeAfter2:
            let alignment = Self.alignment(self.spelling)
            let bit = (Base64Run.offset(ofAlignment: alignment) + index) * 6 - alignment * 8
            let second = bit / 8 + 1 < self.bytes.count ? self.bytes[bit / 8 + 1] : 0
            let pair = UInt16(self.bytes[bit / 8]) << 8 | UInt16(second)
            let character = Self.alphabet[Int(pair >> UInt16(10 - bit % 8) & 63)]
            return self.spelling.rawValue >= Spelling.urlSafe.rawValue ? Base64Run.urlSafe(character) : character
        }
    }

    /// Its first bytes.
    func prefix(_ limit: Int) -> [UInt8] { (0..<min(limit, self.count)).map { self[$0] } }
}

/// How widely a secret is searched for beyond the place where it was found.
///
/// A word that occurs in many texts reveals nothing, and removing it everywhere would ruin them.
enum SecretReach: Sendable, Hashable {
    /// Only its own place.
    case place
    /// Everywhere, unless it is adjacent to a letter or digit.
    case word
    /// Everywhere.
    case anywhere

    /// Up to this length, a value of only letters or digits may be an ordinary word or number.
    private static let plainLimit = 12

    /// - Parameters:
    ///   - isSure: whether the place holds nothing but secrets, as a password's does and a cookie's does not.
    ///   - isRuled: whether a user's rule refers to the place. If not, a value of only letters is not searched for, as it may be a word of
    ///     a page.
    init(_ bytes: [UInt8], isSure: Bool, isRuled: Bool = false) {
        guard bytes.count >= NeedleIndex.lengthLimit, !Self.isCommon(bytes),
            isRuled || !PlainWords.isLetters(bytes) && !PlainWords.isLabel(bytes)
        else {
            self = .place
            return
        }
        let hasLetter = bytes.contains { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
        let hasDigit = bytes.contains { $0 >= 48 && $0 <= 57 }
        let hasOther = bytes.contains { !FormSpelling.isAlphanumeric($0) }
        if isSure {
            self = bytes.count < Self.plainLimit && !hasOther && !(hasLetter && hasDigit) ? .word : .anywhere
        } else if hasLetter, hasDigit, bytes.count >= 8, !Self.isDateOrVersion(bytes) {
            self = .anywhere
        } else {
            self = bytes.count >= 16 && !Self.isWords(bytes) ? .anywhere : .place
        }
    }

    /// Whether the letters have one case, or look like separated words.
    private static func isWords(_ bytes: [UInt8]) -> Bool {
        let letters = bytes.filter { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
        let digits = bytes.filter { $0 >= 48 && $0 <= 57 }
        guard digits.isEmpty else { return letters.isEmpty && digits.count < 16 }
        // Random letters mix both cases; words are capitalised only at their beginnings.
        let capitals = letters.filter { $0 < 97 }.count
        return capitals == letters.count || capitals * 4 <= letters.count
    }

    private static func isDateOrVersion(_ bytes: [UInt8]) -> Bool {
        let letters = bytes.filter { ($0 | 32) >= 97 && ($0 | 32) <= 122 }.count
        return letters <= 3 && bytes.count <= 30
    }

    static func isCommon(_ bytes: [UInt8]) -> Bool {
        Self.common.contains(String(decoding: bytes, as: UTF8.self).lowercased())
    }

    /// Values of at least six letters that occur in place of secrets but are not secret.
    private static let common: Set<String> = [
        "anonymous", "application", "authorization", "authorization_code", "basic", "bearer", "changeme", "client_credentials",
        "client_secret", "default", "deleted", "disabled", "enabled", "example", "expired", "false", "hidden", "invalid", "localhost",
        "password", "passwd", "private", "public", "redacted", "refresh_token", "required", "secret", "string", "undefined",
        "unknown", "username", "x-oauth-basic", "x-token-auth", "access_token", "api_key", "apikey", "token", "oauth2", "[redacted]",
        "********", "xxxxxx", "xxxxxxxx", "******", "123456", "000000", "testing", "optional", "accepted", "session", "cookie",
    ]
}
