internal import CassetteModel

/// The replacement for a secret in a cassette: `{{kind:number}}`, or a JSON Web Token or a UUID that contains both.
///
/// Reveals nothing about the secret except its kind, and that equal placeholders mean equal secrets. A token also reveals its times, and
/// its length if lengths are kept.
public struct Placeholder: Sendable, Hashable, CustomStringConvertible {
    /// Letters, digits, `_`, `-` and `.`; see `kind(_:)`.
    public let kind: String
    /// Counted from 1 for each kind.
    public let number: Int
    /// The replacement in the form of the secret. Nil if there is none, and for placeholders read from a cassette.
    private let shaped: [UInt8]?

    /// The longest kind. Kinds of rules are derived from field names, and a placeholder should not be much longer than the secret.
    public static let kindLimit = 64

    public init(kind: String, number: Int) { self.init(kind: kind, number: number, shaped: nil) }

    private init(kind: String, number: Int, shaped: [UInt8]?) {
        self.kind = Self.kind(kind)
        self.number = number
        self.shaped = shaped
    }

    /// The placeholder for a secret, in the form of the secret if that is to be kept: a token for a JSON Web Token, and so on.
    ///
    /// - Parameter next: returns the next placeholder number of a kind. That kind may differ from the secret's.
    init(for secret: [UInt8], kind: String, keeping shape: KeptShape, next: (_ kind: String) -> Int) {
        let kind = Self.kind(kind)
        let tokenKind = WebTokenPlaceholder.kind(kind)
        if let token = WebTokenPlaceholder.bytes(for: secret, kind: tokenKind, number: next(tokenKind), keeping: shape.claims) {
            self.init(kind: tokenKind, number: next(tokenKind), shaped: token)
        } else if shape.keepsUUIDs, let uuid = UUIDPlaceholder.bytes(for: secret, number: next(UUIDPlaceholder.kind)) {
            self.init(kind: UUIDPlaceholder.kind, number: next(UUIDPlaceholder.kind), shaped: uuid)
        } else if shape.keepsLengths, let fitting = Self.ofLength(secret.count, kind, next) {
            self = fitting
        } else {
            self.init(kind: kind, number: next(kind))
        }
    }

    /// A placeholder padded with leading zeros to the length of the secret; nil if the secret is too short for that, or too long.
    private static func ofLength(_ length: Int, _ kind: String, _ next: (_ kind: String) -> Int) -> Placeholder? {
        for kind in [kind, Self.shortKind] {
            let number = next(kind)
            let zeros = length - "{{\(kind):\(number)}}".utf8.count
            guard zeros >= 0, length <= WebTokenPlaceholder.limit else { continue }
            return Placeholder(
                kind: kind, number: number, shaped: Array("{{\(kind):\(String(repeating: "0", count: zeros))\(number)}}".utf8))
        }
        return nil
    }

    /// The kind used if there is no room for another one.
    private static let shortKind = "s"

    public var description: String { "{{\(self.kind):\(self.number)}}" }
    /// The text that is written.
    public var bytes: [UInt8] { self.shaped ?? self.plainBytes }
    /// The memory used for a replacement in the form of a secret.
    var heldBytes: Int { self.shaped?.count ?? 0 }
    private var plainBytes: [UInt8] { Array(self.description.utf8) }

    /// The placeholder to write at a range. A token or UUID next to a letter, as after "%20", would not be recognised again.
    func standing(at range: Range<Int>, in text: UnsafeRawBufferPointer) -> Placeholder {
        guard let shaped, shaped.first != UInt8(ascii: "{"), !WebTokenPlaceholder.standsAlone(range, in: text) else { return self }
        return Placeholder(kind: self.kind, number: self.number)
    }

    /// The text for a given length. A token of another length would be cut, so the plain form is used instead.
    func bytes(ofLength length: Int) -> [UInt8] { self.bytes.count == length ? self.bytes : self.plainBytes }

    /// The text at exactly this length: truncated, or padded with `*`.
    func fitted(_ length: Int) -> [UInt8] {
        let bytes = self.bytes(ofLength: length)
        return bytes.prefix(length) + Array(repeating: UInt8(ascii: "*"), count: max(0, length - bytes.count))
    }

    /// Makes a kind of some words. Characters that are not allowed become hyphens.
    public static func kind(_ words: String) -> String {
        let bytes = words.utf8.prefix(Self.kindLimit).map { Self.mayStandInKind($0) ? $0 : UInt8(ascii: "-") }
        return bytes.isEmpty ? "secret" : String(decoding: bytes, as: UTF8.self)
    }

    static func mayStandInKind(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}

extension Placeholder {
    /// Digits of a number after its leading zeros; more secrets do not fit in memory.
    package static let digitLimit = 10
    /// Zeros before a number.
    package static let zerosLimit = WebTokenPlaceholder.limit

    /// How many bytes the placeholder at an offset takes, with its braces and colon plain or percent-encoded; nil if there is none.
    public static func length(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? { self.parts(in: bytes, at: offset)?.length }

    /// The text with `{{*}}` in place of each placeholder.
    package static func withoutNumbers(_ text: [UInt8]) -> [UInt8] {
        text.withUnsafeBytes { bytes in
            var replaced: [UInt8] = []
            var offset = 0
            while offset < bytes.count {
                if let length = self.length(in: bytes, at: offset) {
                    replaced += "{{*}}".utf8
                    offset += length
                } else {
                    replaced.append(bytes[offset])
                    offset += 1
                }
            }
            return replaced
        }
    }

    /// The placeholder at an offset, and how many bytes it takes; nil if there is none.
    public static func spelled(in bytes: UnsafeRawBufferPointer, at offset: Int) -> (placeholder: Placeholder, length: Int)? {
        guard let (kind, number, length) = self.parts(in: bytes, at: offset) else { return nil }
        guard let count = Int(String(decoding: bytes[number], as: UTF8.self)) else { return nil }
        return (Placeholder(kind: kind.map { String(decoding: bytes[$0], as: UTF8.self) } ?? UUIDPlaceholder.kind, number: count), length)
    }

    /// The kind is nil for a UUID, which does not contain it.
    private static func parts(
        in bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> (kind: Range<Int>?, number: Range<Int>, length: Int)? {
        guard offset < bytes.count else { return nil }
        let before = offset > 0 ? bytes[offset - 1] : nil
        if bytes[offset] == UInt8(ascii: "5") {
            guard case .uuid(let number) = UUIDPlaceholder.match(bytes, at: offset, after: before, isFinal: true) else { return nil }
            return (nil, number, number.upperBound - offset)
        }
        if bytes[offset] == UInt8(ascii: "e") {
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
        let first = index
        while index < bytes.count, index - first < Self.zerosLimit, bytes[index] == 48 { index += 1 }
        let number = index
        while index < bytes.count, index - number < Self.digitLimit, bytes[index] >= 48, bytes[index] <= 57 { index += 1 }
        let numberEnd = index
        guard index > first, self.take("}", "7d", bytes, &index), self.take("}", "7d", bytes, &index) else { return nil }
        // If there are only zeros, the last one is the number.
        return (kind..<kindEnd, min(number, numberEnd - 1)..<numberEnd, index - offset)
    }

    /// Whether the bytes are exactly one placeholder.
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
    /// The placeholder in the same form with another number; nil if the bytes are not exactly one.
    ///
    /// - Parameter number: the new number of an old one.
    static func renumbered(_ bytes: [UInt8], number: (Int) -> Int) -> (old: Placeholder, new: Placeholder)? {
        bytes.withUnsafeBytes { bytes in
            guard let (kind, digits, length) = self.parts(in: bytes, at: 0), length == bytes.count,
                let old = Int(String(decoding: bytes[digits], as: UTF8.self))
            else { return nil }
            let wanted = number(old)
            let number = Array("\(wanted)".utf8)
            let name = kind.map { String(decoding: bytes[$0], as: UTF8.self) } ?? UUIDPlaceholder.kind
            var start = digits.lowerBound
            // A wider number takes the place of zeros before it.
            while start > 1, bytes[start - 1] == 48, digits.upperBound - start < number.count { start -= 1 }
            var text = Array(bytes[..<start])
            // The length is kept only where it was kept before: in a UUID, or after zeros.
            let keepsLength = kind == nil || (digits.lowerBound > 0 && bytes[digits.lowerBound - 1] == 48)
            if keepsLength { text += Array(repeating: 48, count: max(0, digits.upperBound - start - number.count)) }
            text += number
            var end = digits.upperBound
            if bytes[0] == UInt8(ascii: "e") {
                // The signature of a token has a multiple of four characters.
                while end < bytes.count, bytes[end] == UInt8(ascii: "-") { end += 1 }
                let signature = text.count - (text.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0)
                if end > digits.upperBound || signature % 4 != 0 {
                    text += Array(repeating: UInt8(ascii: "-"), count: (4 - signature % 4) % 4)
                }
            }
            text += bytes[end...]
            return (Placeholder(kind: name, number: old), Placeholder(kind: name, number: wanted, shaped: text))
        }
    }

    /// The same for a number that stands for another one.
    static func renumbered(number: Int, to new: Int) -> (old: [UInt8], new: Placeholder) {
        (NumberPlaceholder.bytes(number), Placeholder(kind: "number", number: new, shaped: NumberPlaceholder.bytes(new)))
    }

    /// The longest placeholder, in bytes.
    package static let lengthLimit = WebTokenPlaceholder.limit

    package enum ShapeMatch: Equatable {
        case none
        case placeholder(end: Int)
        /// The bytes end within a possible placeholder.
        case needsMore
    }

    /// Looks for a JSON Web Token or a UUID that replaces another one.
    ///
    /// - Parameters:
    ///   - before: the byte before the offset; nil if there is none.
    ///   - isFinal: whether the bytes end the text.
    package static func shaped(
        in bytes: UnsafeRawBufferPointer, at offset: Int, after before: UInt8?, isFinal: Bool
    ) -> ShapeMatch {
        if bytes[offset] == UInt8(ascii: "5") {
            return switch UUIDPlaceholder.match(bytes, at: offset, after: before, isFinal: isFinal) {
            case .none: .none
            case .uuid(let number): .placeholder(end: number.upperBound)
            case .needsMore: .needsMore
            }
        }
        return switch WebTokenPlaceholder.match(bytes, at: offset, after: before, isFinal: isFinal) {
        case .none: .none
        case .token(_, _, let end): .placeholder(end: end)
        case .needsMore: .needsMore
        }
    }

    /// The beginning of a possible replacement UUID whose first hyphen is at this offset.
    package static func uuid(before hyphen: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        UUIDPlaceholder.start(before: hyphen, in: bytes)
    }

    /// The offset from `start` on at which the last bytes may begin a replacement UUID; nil if there is none.
    package static func cutUUID(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? { UUIDPlaceholder.cut(in: bytes, from: start) }
}

extension Placeholder {
    /// The ranges of the placeholders in a text, as edits with empty replacements.
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

/// Which properties of a secret its placeholder keeps. A token always remains a token.
struct KeptShape: Sendable {
    /// Claims of JSON Web Tokens.
    var claims: Set<String> = []
    var keepsUUIDs = false
    /// Lengths in bytes, without escapes.
    var keepsLengths = false
}
