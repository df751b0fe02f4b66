internal import CassetteModel

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

    /// - Parameter isSure: the place holds secrets only, as a password's does and a cookie's does not.
    init(_ bytes: [UInt8], isSure: Bool) {
        guard bytes.count >= NeedleIndex.lengthLimit, !Self.isCommon(bytes) else {
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

    private static func isCommon(_ bytes: [UInt8]) -> Bool {
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
