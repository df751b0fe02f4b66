internal import CassetteModel
internal import TapeBytes

/// One spelling of a secret that is searched for. Its bytes are made of the secret's as they are compared.
struct Needle {
    enum Form: Sendable, Hashable {
        case plain
        /// The characters of base64 that no byte beside the secret has a part in, where so many bytes of a group are in front of it.
        case base64(alignment: Int)
        /// Pairs of hex digits.
        case hex
        /// UTF-16 of either order of bytes, without the zero at its outer end.
        case wide
    }

    /// The forms, with the alphabets of base64 and hex told apart.
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

    /// The first bytes of it.
    func prefix(_ limit: Int) -> [UInt8] { (0..<min(limit, self.count)).map { self[$0] } }
}

/// How far a secret is looked for beyond the place where it was found.
///
/// A word that many texts have says nothing, and to take it out of all of them would spoil them.
enum SecretReach: Sendable, Hashable {
    /// Its own place only.
    case place
    /// Everywhere, where no letter or digit stands beside it.
    case word
    /// Everywhere.
    case anywhere

    /// Letters or digits alone, up to which a value may be a word or a number like any other.
    private static let plainLimit = 12

    /// - Parameters:
    ///   - isSure: the place holds secrets only, as a password's does and a cookie's does not.
    ///   - isRuled: a rule of the user's names the place. Otherwise letters alone are not looked for: they may be words of a page.
    init(_ bytes: [UInt8], isSure: Bool, isRuled: Bool = false) {
        guard bytes.count >= NeedleIndex.lengthLimit, !Self.isCommon(bytes), isRuled || !PlainWords.isLetters(bytes) else {
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

    /// Letters of one case, and what divides words.
    private static func isWords(_ bytes: [UInt8]) -> Bool {
        let letters = bytes.filter { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
        let digits = bytes.filter { $0 >= 48 && $0 <= 57 }
        guard digits.isEmpty else { return letters.isEmpty && digits.count < 16 }
        // Random letters have both cases well mixed; words have capitals at their beginnings.
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

    /// Values that stand in places of secrets and are none, of at least six letters.
    private static let common: Set<String> = [
        "anonymous", "application", "authorization", "authorization_code", "basic", "bearer", "changeme", "client_credentials",
        "client_secret", "default", "deleted", "disabled", "enabled", "example", "expired", "false", "hidden", "invalid", "localhost",
        "password", "passwd", "private", "public", "redacted", "refresh_token", "required", "secret", "string", "undefined",
        "unknown", "username", "x-oauth-basic", "x-token-auth", "access_token", "api_key", "apikey", "token", "oauth2", "[redacted]",
        "********", "xxxxxx", "xxxxxxxx", "******", "123456", "000000", "testing", "optional", "accepted", "session", "cookie",
    ]
}
