internal import CassetteModel
internal import TapeBytes

/// The letter case of secrets: programs write hex digits in either case, and some change the case of a whole field.
enum LetterCase {
    /// A shorter value may be a number or a word.
    private static let leastDigits = 16
    /// A longer value is a token or a key in base64, whose letter case nobody changes.
    private static let longest = 128

    /// Whether a secret means the same in either case: a UUID (RFC 9562, 4), or hex digits, possibly in groups.
    static func isFree(_ secret: [UInt8]) -> Bool {
        if UUIDPlaceholder.isUUID(secret) { return true }
        var digits = 0
        for byte in secret {
            if byte < 0x80, Hex.value(byte) != nil {
                digits += 1
            } else if byte != UInt8(ascii: "-"), byte != UInt8(ascii: ":") {
                return false
            }
        }
        return digits >= self.leastDigits && secret.contains { $0 >= 65 }
    }

    /// The secret in lower case if it means the same in either case; otherwise unchanged.
    static func canonical(_ secret: [UInt8]) -> [UInt8] { self.isFree(secret) ? self.lower(secret) : secret }

    static func lower(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 } }
    static func upper(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 >= 97 && $0 <= 122 ? $0 & ~32 : $0 } }

    /// The secret in lower case and in capitals, if it may be written so: one word with letters and digits, and no password, since those of
    /// two users may differ in nothing but the case.
    static func others(of secret: [UInt8], kind: String) -> [[UInt8]] {
        guard kind != "password", secret.count >= self.leastDigits, secret.count <= self.longest, !self.isFree(secret),
            secret.allSatisfy({ FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }),
            secret.contains(where: { $0 < 58 && $0 >= 48 }), secret.contains(where: { $0 >= 65 })
        else { return [] }
        return [self.lower(secret), self.upper(secret)].filter { $0 != secret }
    }
}
