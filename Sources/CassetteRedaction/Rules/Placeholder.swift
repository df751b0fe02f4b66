internal import CassetteModel

/// What stands in a cassette where a secret was: `{{kind:number}}`.
///
/// Says nothing of the secret but its kind, and that it is the same one wherever the same placeholder is.
public struct Placeholder: Sendable, Hashable, CustomStringConvertible {
    /// Letters, digits, `_`, `-` and `.`; see `kind(_:)`.
    public let kind: String
    /// Counts from 1 for each kind.
    public let number: Int

    /// Longest kind: those of rules are made of field names, and a placeholder should not be longer than what it replaces by much.
    public static let kindLimit = 64

    public init(kind: String, number: Int) {
        self.kind = Self.kind(kind)
        self.number = number
    }

    public var description: String { "{{\(self.kind):\(self.number)}}" }
    public var bytes: [UInt8] { Array(self.description.utf8) }

    /// Some words as a kind: what is not allowed becomes a hyphen.
    public static func kind(_ words: String) -> String {
        let bytes = words.utf8.prefix(Self.kindLimit).map { Self.mayStandInKind($0) ? $0 : UInt8(ascii: "-") }
        return bytes.isEmpty ? "secret" : String(decoding: bytes, as: UTF8.self)
    }

    static func mayStandInKind(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}

extension Placeholder {
    /// Digits of a number: more secrets than that do not fit in memory.
    private static let digitLimit = 9

    /// The bytes that a placeholder takes at an offset, its braces and colon plain or percent-encoded; nil if there is none.
    public static func length(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? { self.parts(in: bytes, at: offset)?.length }

    /// The placeholder at an offset, and how many bytes it takes; nil if there is none.
    public static func spelled(in bytes: UnsafeRawBufferPointer, at offset: Int) -> (placeholder: Placeholder, length: Int)? {
        guard let (kind, number, length) = self.parts(in: bytes, at: offset) else { return nil }
        guard let count = Int(String(decoding: bytes[number], as: UTF8.self)) else { return nil }
        return (Placeholder(kind: String(decoding: bytes[kind], as: UTF8.self), number: count), length)
    }

    private static func parts(
        in bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> (kind: Range<Int>, number: Range<Int>, length: Int)? {
        var index = offset
        guard self.take("{", "7b", bytes, &index), self.take("{", "7b", bytes, &index) else { return nil }
        let kind = index
        while index < bytes.count, index - kind <= Self.kindLimit, self.mayStandInKind(bytes[index]) { index += 1 }
        let kindEnd = index
        guard index > kind, self.take(":", "3a", bytes, &index) else { return nil }
        let number = index
        while index < bytes.count, index - number < Self.digitLimit, bytes[index] >= 48, bytes[index] <= 57 { index += 1 }
        let numberEnd = index
        guard index > number, self.take("}", "7d", bytes, &index), self.take("}", "7d", bytes, &index) else { return nil }
        return (kind..<kindEnd, number..<numberEnd, index - offset)
    }

    /// Whether the bytes are one placeholder and nothing else.
    public static func isWhole(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count > 5 && self.length(in: bytes, at: 0) == bytes.count
    }

    private static func take(_ plain: StaticString, _ hex: StaticString, _ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> Bool {
        guard index < bytes.count else { return false }
        if bytes[index] == plain.utf8Start[0] {
            index += 1
            return true
        }
        guard bytes.count - index > 2, bytes[index] == UInt8(ascii: "%"), bytes[index + 1] == hex.utf8Start[0],
            bytes[index + 2] | 32 == hex.utf8Start[1]
        else { return false }
        index += 3
        return true
    }
}

extension Placeholder {
    /// Whether a placeholder is in a range of a text, or around it.
    static func touches(_ range: Range<Int>, in text: UnsafeRawBufferPointer) -> Bool {
        // The longest has its braces, its colon and each of its marks in percent-encoding.
        let longest = Self.kindLimit + Self.digitLimit + 15
        var offset = max(0, range.lowerBound - longest)
        while offset < range.upperBound {
            if let length = Self.length(in: text, at: offset) {
                if offset + length > range.lowerBound { return true }
                offset += length
            } else {
                offset += 1
            }
        }
        return false
    }
}
