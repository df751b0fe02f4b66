internal import CassetteModel
internal import TapeBytes

/// What stands in a cassette where a UUID was, if UUIDs are to stay UUIDs (RFC 9562): `5ec7e700-0000-4000-8000-000000000001`.
///
/// Version and variant are those of the secret; the last group is the placeholder's number, in decimal digits.
enum UUIDPlaceholder {
    /// What it is counted as.
    static let kind = "uuid"
    static let length = 36

    private static let beginning = Array("5ec7e700".utf8)
    /// `0` a zero, `x` a hexadecimal digit, `9` a decimal one; the beginning has been looked at.
    private static let form = Array("5ec7e700-0000-x000-x000-999999999999".utf8)
    private static let versionAt = 14
    private static let variantAt = 19
    private static let numberAt = 24

    /// The UUID for one that was found, in capitals if that has them; nil where it is none.
    static func bytes(for secret: [UInt8], number: Int) -> [UInt8]? {
        guard self.isUUID(secret) else { return nil }
        var result = self.form
        result[self.versionAt] = secret[self.versionAt] | 32
        // Of the variant's digit two bits are random in most UUIDs.
        let variant = Hex.value(secret[self.variantAt]) ?? 8
        result[self.variantAt] = Hex.digit(variant & 0b1100)
        let digits = Array(String(number).utf8)
        for index in self.numberAt..<self.length { result[index] = UInt8(ascii: "0") }
        result.replaceSubrange((self.length - digits.count)..., with: digits)
        let isUpper = secret.contains { $0 >= 65 && $0 <= 70 } && !secret.contains { $0 >= 97 }
        return isUpper ? result.map { $0 >= 97 ? $0 & ~32 : $0 } : result
    }

    /// 32 hexadecimal digits with hyphens (RFC 9562, 4).
    static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.count == self.length
            && bytes.indices.allSatisfy {
                self.form[$0] == UInt8(ascii: "-") ? bytes[$0] == UInt8(ascii: "-") : Hex.value(bytes[$0]) != nil
            }
    }

    // MARK: Finding it again

    enum Match: Equatable {
        case none
        case uuid(number: Range<Int>)
        /// The bytes end within what may be one.
        case needsMore
    }

    /// Where one may begin whose first hyphen is at an offset.
    static func start(before hyphen: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        let start = hyphen - self.beginning.count
        return start >= 0 && self.isBeginning(bytes, start..<hyphen) ? start : nil
    }

    /// Where the last bytes from `start` may be the beginning of one; nil if they cannot.
    static func cut(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let first = max(start, bytes.count - self.beginning.count)
        guard first < bytes.count else { return nil }
        return (first..<bytes.count).first { bytes[$0] == self.beginning[0] && self.isBeginning(bytes, $0..<bytes.count) }
    }

    private static func isBeginning(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        zip(bytes[range], self.beginning).allSatisfy { $0 | 32 == $1 | 32 }
    }

    /// Looks for one at an offset. No letter or digit is next to it.
    ///
    /// - Parameters:
    ///   - before: the byte in front of the offset; nil if there is none.
    ///   - isFinal: whether the bytes end a text.
    static func match(_ bytes: UnsafeRawBufferPointer, at start: Int, after before: UInt8?, isFinal: Bool) -> Match {
        if let before, FormSpelling.isAlphanumeric(before) { return .none }
        for (index, expected) in self.form.enumerated() {
            guard start + index < bytes.count else { return isFinal ? .none : .needsMore }
            let byte = bytes[start + index]
            let fits =
                switch expected {
                case UInt8(ascii: "x"): Hex.value(byte) != nil
                case UInt8(ascii: "9"): byte >= 48 && byte <= 57
                default: byte == expected || expected >= 97 && byte | 32 == expected
                }
            guard fits else { return .none }
        }
        let end = start + self.length
        guard end < bytes.count || isFinal else { return .needsMore }
        if end < bytes.count, FormSpelling.isAlphanumeric(bytes[end]) { return .none }
        return .uuid(number: start + self.numberAt..<end)
    }
}
