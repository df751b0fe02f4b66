internal import CassetteModel
internal import TapeBytes

/// The replacement for a UUID in a cassette, if UUIDs are to remain UUIDs (RFC 9562): `5ec7e700-0000-4000-8000-000000000001`.
///
/// Version and variant are those of the secret. The last group is the placeholder's number, in decimal digits.
enum UUIDPlaceholder {
    /// The kind by which it is counted.
    static let kind = "uuid"
    static let length = 36

    private static let beginning = Array("5ec7e700".utf8)
    /// `0` means zero, `x` a hexadecimal digit, `9` a decimal digit. The beginning has already been checked.
    private static let form = Array("5ec7e700-0000-x000-x000-999999999999".utf8)
    private static let versionAt = 14
    private static let variantAt = 19
    private static let numberAt = 24

    /// The replacement for a UUID, in upper case if that is; nil if the secret is not a UUID.
    static func bytes(for secret: [UInt8], number: Int) -> [UInt8]? {
        guard self.isUUID(secret) else { return nil }
        var result = self.form
        result[self.versionAt] = secret[self.versionAt] | 32
        // In most UUIDs, two bits of the variant's digit are random.
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
        /// The bytes end within a possible match.
        case needsMore
    }

    /// The possible beginning of a UUID whose first hyphen is at this offset.
    static func start(before hyphen: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        let start = hyphen - self.beginning.count
        return start >= 0 && self.isBeginning(bytes, start..<hyphen) ? start : nil
    }

    /// The offset from `start` on at which the last bytes may begin a match; nil if there is none.
    static func cut(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let first = max(start, bytes.count - self.beginning.count)
        guard first < bytes.count else { return nil }
        return (first..<bytes.count).first { bytes[$0] == self.beginning[0] && self.isBeginning(bytes, $0..<bytes.count) }
    }

    private static func isBeginning(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        zip(bytes[range], self.beginning).allSatisfy { $0 | 32 == $1 | 32 }
    }

    /// Looks for a match at an offset. It must not be adjacent to a letter or digit.
    ///
    /// - Parameters:
    ///   - before: the byte before the offset; nil if there is none.
    ///   - isFinal: whether the bytes end the text.
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
