internal import CassetteModel

/// What stands in a cassette where a secret was: `{{kind:number}}`, or a JSON Web Token that names both in place of its signature.
///
/// Says nothing of the secret but its kind, and that it is the same one wherever the same placeholder is; of a token also its times.
public struct Placeholder: Sendable, Hashable, CustomStringConvertible {
    /// Letters, digits, `_`, `-` and `.`; see `kind(_:)`.
    public let kind: String
    /// Counts from 1 for each kind.
    public let number: Int
    /// In place of a JSON Web Token; nil for any other secret, and in what was read from a cassette.
    private let token: [UInt8]?

    /// Longest kind: those of rules are made of field names, and a placeholder should not be longer than what it replaces by much.
    public static let kindLimit = 64

    public init(kind: String, number: Int) { self.init(kind: kind, number: number, token: nil) }

    private init(kind: String, number: Int, token: [UInt8]?) {
        self.kind = Self.kind(kind)
        self.number = number
        self.token = token
    }

    /// The placeholder for a secret: a token for a JSON Web Token.
    ///
    /// - Parameter claims: of a token that stay.
    init(kind: String, number: Int, for secret: [UInt8], keeping claims: Set<String>) {
        let kind = Self.kind(kind)
        self.init(
            kind: kind, number: number, token: WebTokenPlaceholder.bytes(for: secret, kind: kind, number: number, keeping: claims))
    }

    public var description: String { "{{\(self.kind):\(self.number)}}" }
    /// As it stands in a text.
    public var bytes: [UInt8] { self.token ?? self.plainBytes }
    /// Of a token, which is kept in memory.
    var heldBytes: Int { self.token?.count ?? 0 }
    /// Where a token has no room.
    var plainBytes: [UInt8] { Array(self.description.utf8) }

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
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "e") {
            let before = offset > 0 ? bytes[offset - 1] : nil
            guard case .token(let kind, let number, let end) = WebTokenPlaceholder.match(bytes, at: offset, after: before, isFinal: true)
            else { return nil }
            return (kind, number, end - offset)
        }
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
    /// Longest token that stands for another one, in bytes.
    package static let tokenLimit = WebTokenPlaceholder.limit

    package enum TokenMatch: Equatable {
        case none
        case token(end: Int)
        /// The bytes end within what may be a token.
        case needsMore
    }

    /// Looks for a JSON Web Token that stands for another one.
    ///
    /// - Parameters:
    ///   - before: the byte in front of the offset; nil if there is none.
    ///   - isFinal: whether the bytes end a text.
    package static func token(
        in bytes: UnsafeRawBufferPointer, at offset: Int, after before: UInt8?, isFinal: Bool
    ) -> TokenMatch {
        switch WebTokenPlaceholder.match(bytes, at: offset, after: before, isFinal: isFinal) {
        case .none: .none
        case .token(_, _, let end): .token(end: end)
        case .needsMore: .needsMore
        }
    }
}

extension Placeholder {
    /// Where the placeholders of a text are, as edits that replace nothing.
    static func all(in text: UnsafeRawBufferPointer) -> EditList {
        var found: [Edit] = []
        var offset = 0
        while offset < text.count {
            guard let length = Self.length(in: text, at: offset) else {
                offset += 1
                continue
            }
            found.append(Edit(range: offset..<offset + length, bytes: []))
            offset += length
        }
        return EditList(found)
    }
}
