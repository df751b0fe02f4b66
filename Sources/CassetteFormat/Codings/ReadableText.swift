internal import TapeBytes

/// Decides whether octets are text that people can read: UTF-8 without control characters but tab, line feed and carriage return.
///
/// Works on pieces. Other charsets are not decoded: their octets are text only where they happen to be UTF-8 as well.
package struct ReadableText {
    private var validator = UTF8Validator()
    package private(set) var isReadable = true

    package init() {}

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    package static func isReadable(_ octets: UnsafeRawBufferPointer) -> Bool {
        var text = ReadableText()
        text.push(octets)
        return text.finish()
    }

    package mutating func push(_ octets: UnsafeRawBufferPointer) {
        guard self.isReadable else { return }
        self.isReadable = !Self.hasControl(octets) && self.validator.firstInvalid(in: octets) == nil
    }

    /// False as well where the octets end within a character.
    func finish() -> Bool { self.isReadable && self.validator.isAtCharacterEnd }

    private static func hasControl(_ octets: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while octets.count - offset >= 8 {
            let word = octets.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // High bits of the octets below 32 or equal to 127; a borrow can add a false one, which the slow look settles.
            let delete = word ^ (Self.ones &* 0x7f)
            let stops = ((word &- Self.ones &* 0x20) & ~word | (delete &- Self.ones) & ~delete) & Self.highs
            if stops != 0 {
                for index in offset..<offset + 8 where Self.isControl(octets[index]) { return true }
            }
            offset += 8
        }
        while offset < octets.count {
            if Self.isControl(octets[offset]) { return true }
            offset += 1
        }
        return false
    }

    private static func isControl(_ octet: UInt8) -> Bool {
        octet < 32 && octet != 9 && octet != 10 && octet != 13 || octet == 127
    }
}
