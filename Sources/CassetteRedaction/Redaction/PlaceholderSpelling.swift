internal import CassetteModel
internal import TapeBytes

/// How placeholders are written into a text so that it stays what it is.
struct PlaceholderSpelling {
    private let kind: TextKind
    /// Of a form: whether its own escapes have small letters, and which of a placeholder's marks it has unescaped.
    private var usesLowerCase = false
    private var plainMarks: [UInt8] = []

    init(_ kind: TextKind, in text: UnsafeRawBufferPointer) {
        self.kind = kind
        guard kind == .form else { return }
        // One spelling for the whole form: only then can it be shown as fields (see `FormText`).
        self.plainMarks = Array("{}:".utf8).filter { ByteScan.index(of: $0, in: text, from: 0) < text.count }
        var offset = 0
        while offset < text.count - 2 {
            offset = ByteScan.index(of: UInt8(ascii: "%"), in: text, from: offset) + 1
            guard offset < text.count - 1 else { break }
            if text[offset] >= 97 || text[offset + 1] >= 97 { self.usesLowerCase = true }
        }
    }

    /// - Parameters:
    ///   - range: what it takes the place of.
    ///   - isEscaped: whether that has percent-encoding in it.
    func octets(_ placeholder: [UInt8], range: Range<Int>, spelling: Finding.Spelling, isEscaped: Bool = false) -> [UInt8] {
        switch self.kind {
        case .binary: return self.fitted(placeholder, range.count)
        case .form: return self.escaped(placeholder, keeping: self.plainMarks)
        case .plain, .fields, .url: break
        }
        switch spelling {
        case .number: return [UInt8(ascii: "0")]
        case .user: return self.escaped(placeholder, keeping: [])
        case .query where self.kind != .url: return self.escaped(placeholder, keeping: [UInt8(ascii: ":")])
        case .plain, .json, .form, .query:
            return isEscaped && self.kind != .url ? self.escaped(placeholder, keeping: [UInt8(ascii: ":")]) : placeholder
        }
    }

    /// As the secret was spelled: in hex with its letters, in UTF-16 with zeros.
    func octets(_ placeholder: [UInt8], in form: Needle.Form, for old: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        guard form == .wide else {
            let isUpper = old.contains { $0 >= 65 && $0 <= 70 }
            let fitted = self.kind == .binary ? self.fitted(placeholder, old.count / 2) : placeholder
            return Hex.encode(fitted).utf8.map { isUpper && $0 >= 97 ? $0 & ~32 : $0 }
        }
        return NeedleIndex.wide(self.kind == .binary ? self.fitted(placeholder, (old.count + 1) / 2) : placeholder)
    }

    /// Text of base64 in which secrets were, coded anew.
    func octets(base64 text: [UInt8], isEscaped: Bool) -> [UInt8] {
        self.kind == .form || isEscaped ? self.escaped(text, keeping: []) : text
    }

    private func fitted(_ placeholder: [UInt8], _ count: Int) -> [UInt8] {
        placeholder.prefix(count) + Array(repeating: UInt8(ascii: "*"), count: max(0, count - placeholder.count))
    }

    private func escaped(_ octets: [UInt8], keeping: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        for octet in octets {
            let isPlain = FormSpelling.isAlphanumeric(octet) || [45, 46, 95].contains(octet) || keeping.contains(octet)
            guard !isPlain else {
                escaped.append(octet)
                continue
            }
            escaped.append(UInt8(ascii: "%"))
            for digit in [Hex.digit(octet >> 4), Hex.digit(octet & 15)] {
                escaped.append(digit >= 97 && !self.usesLowerCase ? digit & ~32 : digit)
            }
        }
        return escaped
    }
}
