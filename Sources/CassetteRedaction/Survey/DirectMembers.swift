internal import TapeBytes

/// The string members of one JSON object, without those of objects in it.
///
/// Parses from the opening brace on. Does not validate, and ends where the text is cut.
struct DirectMembers {
    /// The most bytes and members of an object. A JSON Web Key of RSA with 8192 bits takes some 6 KiB without its certificates.
    static let lengthLimit = 16 << 10
    private static let countLimit = 64

    private(set) var members: [(name: Range<Int>, value: Range<Int>)] = []
    /// Names of members with values of other types.
    private(set) var others: [Range<Int>] = []
    /// The offset after the closing brace, or where reading ended.
    private(set) var end: Int
    private let text: SurveyText

    init(_ text: SurveyText, openAt open: Int) {
        self.text = text
        self.end = open + 1
        let most = min(text.bytes.count, open + Self.lengthLimit)
        for _ in 0..<Self.countLimit {
            let quote = text.skipSpace(self.end)
            if text.byte(quote) == UInt8(ascii: "}") {
                self.end = quote + 1
                return
            }
            guard text.byte(quote) == UInt8(ascii: "\""), let close = text.endOfString(quote + 1), close < most else { return }
            let colon = text.skipSpace(close + 1)
            guard text.byte(colon) == UInt8(ascii: ":") else { return }
            let value = text.skipSpace(colon + 1)
            let name = quote + 1..<close
            if text.byte(value) == UInt8(ascii: "\"") {
                guard let last = text.endOfString(value + 1), last < text.bytes.count else { return }
                self.members.append((name, value + 1..<last))
                self.end = last + 1
            } else {
                self.others.append(name)
                guard let next = Self.endOfValue(text, value, most) else { return }
                self.end = next
            }
            let comma = text.skipSpace(self.end)
            if text.byte(comma) == UInt8(ascii: ",") { self.end = comma + 1 } else { self.end = comma }
        }
    }

    /// The offset after a number, a word, an array or an object.
    static func endOfValue(_ text: SurveyText, _ start: Int, _ most: Int) -> Int? {
        var depth = 0
        var offset = start
        while offset < most {
            switch text.bytes[offset] {
            case UInt8(ascii: "\""):
                guard let close = text.endOfString(offset + 1), close < most else { return nil }
                offset = close
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return offset }
                depth -= 1
                if depth == 0 { return offset + 1 }
            case UInt8(ascii: ","): if depth == 0 { return offset }
            default: break
            }
            offset += 1
        }
        return nil
    }

    /// The opening brace of the object that contains an offset outside of strings; nil if it is too far away.
    static func opening(before offset: Int, in text: SurveyText) -> Int? {
        var depth = 0
        var brace = offset - 1
        let least = max(0, offset - Self.lengthLimit)
        while brace >= least {
            switch text.bytes[brace] {
            case UInt8(ascii: "}"): depth += 1
            case UInt8(ascii: "{"):
                if depth == 0 { return brace }
                depth -= 1
            default: break
            }
            brace -= 1
        }
        return nil
    }

    /// The string under a name, in any case of its letters.
    subscript(name: String) -> Range<Int>? { self.members.first { self.isEqual($0.name, name) }?.value }

    /// Whether the object has a member of any type with one of these names.
    func has(_ names: String...) -> Bool {
        names.contains { name in (self.members.map(\.name) + self.others).contains { self.isEqual($0, name) } }
    }

    private func isEqual(_ range: Range<Int>, _ name: String) -> Bool {
        range.count == name.utf8.count && zip(self.text.bytes[range], name.utf8).allSatisfy { $0 | 32 == $1 | 32 }
    }
}
