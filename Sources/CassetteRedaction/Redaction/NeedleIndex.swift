internal import CassetteModel
internal import Platform

/// All spellings of all secrets, found in one pass over a text.
///
/// Knows needles as bytes; escapes are taken out of the text before (see `EscapeView`).
struct NeedleIndex: Sendable {
    struct Hit: Sendable, Hashable {
        var range: Range<Int>
        var secret: Int
        var form: Needle.Form
    }

    /// Shortest needle: six bytes of base64 are seven characters.
    static let lengthLimit = 6
    /// Bytes that are compared of a long needle before it counts as found, so that no text makes each of its bytes cost more.
    static let compareLimit = 1024
    /// Secrets and parts of secrets that are searched for in one run: each takes some 250 bytes beside its own.
    static let limit = 200_000
    /// Those that are found in strides of nine bytes, which takes nine times the entries; any further ones byte by byte.
    private static let strideLimit = 1024

    /// A secret, or a part of one, as it is searched for.
    private struct Text: Sendable {
        var start: UInt32
        var count: UInt32
        /// Which secret of the vault.
        var secret: Int32
        /// Letters or digits beside it make it another word.
        var standsAlone: Bool
    }

    private var bytes: [UInt8] = []
    private var texts: [Text] = []
    private var short = NeedleTable(window: 6, block: 4)
    private var long = NeedleTable(window: 16, block: 8)
    private var many = NeedleTable(window: 8, block: 8)

    var isEmpty: Bool { self.texts.isEmpty }

    /// Enters the spellings of a secret that no view of a text brings together. Whether there is room for them.
    mutating func insert(_ secret: [UInt8], as number: Int, standsAlone: Bool) -> Bool {
        guard secret.count >= Self.lengthLimit else { return true }
        guard self.texts.count < Self.limit, self.bytes.count + 3 * secret.count <= Int(UInt32.max) else { return false }
        // A word's would be found within other words'.
        let spellings: [Needle.Spelling] = standsAlone ? [.plain, .base64, .base64After1, .base64After2] : Needle.Spelling.allCases
        self.insert(secret, number, standsAlone, spellings + (standsAlone ? [.urlSafe, .urlSafeAfter1, .urlSafeAfter2] : []))
        let canonical = EscapeView.canonical(secret)
        if canonical != secret, canonical.count >= Self.lengthLimit { self.insert(canonical, number, standsAlone, [.plain]) }
        if secret.contains(32) {
            // A form's plus sign.
            self.insert(secret.map { $0 == 32 ? UInt8(ascii: "+") : $0 }, number, standsAlone, [.plain])
        }
        return true
    }

    /// Bytes with zeros between them.
    static func wide(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.flatMap { [$0, 0] }.dropLast()) }

    private mutating func insert(_ secret: [UInt8], _ number: Int, _ standsAlone: Bool, _ spellings: [Needle.Spelling]) {
        let index = self.texts.count
        self.texts.append(
            Text(start: UInt32(self.bytes.count), count: UInt32(secret.count), secret: Int32(number), standsAlone: standsAlone))
        self.bytes.append(contentsOf: secret)
        secret.withUnsafeBytes { bytes in
            for spelling in spellings {
                let needle = Needle(spelling, of: bytes)
                if self.isTheSame(needle) { continue }
                let compared = needle.prefix(Self.compareLimit)
                let reference = Int32(index << 4 | Int(spelling.rawValue))
                compared.withUnsafeBytes { compared in
                    if compared.count >= self.long.window, index < Self.strideLimit {
                        self.long.insert(reference, compared)
                    } else if compared.count >= self.many.window, index >= Self.strideLimit {
                        self.many.insert(reference, compared)
                    } else {
                        self.short.insert(reference, compared)
                    }
                }
            }
        }
    }

    /// Whether a spelling is one of those before it: base64 without `+` and `/`, hex without letters.
    private func isTheSame(_ needle: Needle) -> Bool {
        let other: Needle.Spelling
        switch needle.spelling {
        case .urlSafe: other = .base64
        case .urlSafeAfter1: other = .base64After1
        case .urlSafeAfter2: other = .base64After2
        case .upperHex: other = .lowerHex
        case .plain, .base64, .base64After1, .base64After2, .lowerHex, .wide: return false
        }
        let first = Needle(other, of: needle.bytes)
        return (0..<needle.count).allSatisfy { needle[$0] == first[$0] }
    }

    /// Everything that is found, in no order.
    func search(_ text: UnsafeRawBufferPointer, deliver: (Hit) -> Void) {
        self.bytes.withUnsafeBytes { bytes in
            for table in [self.short, self.long, self.many] where !table.isEmpty {
                table.search(text, length: { min(self.needle($0, bytes).count, Self.compareLimit) }) { reference, start in
                    let needle = self.needle(reference, bytes)
                    let own = self.texts[Int(reference >> 4)]
                    guard let end = Self.end(of: needle, own.standsAlone && needle.spelling == .plain, in: text, at: start) else {
                        return nil
                    }
                    deliver(Hit(range: start..<end, secret: Int(own.secret), form: needle.form))
                    return end
                }
            }
        }
    }

    private func needle(_ reference: Int32, _ bytes: UnsafeRawBufferPointer) -> Needle {
        let text = self.texts[Int(reference >> 4)]
        let range = Int(text.start)..<Int(text.start) + Int(text.count)
        // Only the numbers of spellings are entered.
        return Needle(Needle.Spelling(rawValue: UInt8(reference & 15)) ?? .plain, of: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    private static func end(of needle: Needle, _ standsAlone: Bool, in text: UnsafeRawBufferPointer, at start: Int) -> Int? {
        let least = min(needle.count, Self.compareLimit)
        guard start >= 0, text.count - start >= least, let base = text.baseAddress, let own = needle.bytes.baseAddress else { return nil }
        if needle.spelling == .plain {
            guard memcmp(base + start, own, least) == 0 else { return nil }
        } else {
            for index in 0..<least where text[start + index] != needle[index] { return nil }
        }
        var length = least
        while length < needle.count, start + length < text.count, text[start + length] == needle[length] { length += 1 }
        let end = start + length
        guard standsAlone else { return end }
        if start > 0, FormSpelling.isAlphanumeric(text[start - 1]) { return nil }
        if end < text.count, FormSpelling.isAlphanumeric(text[end]) { return nil }
        return end
    }
}
