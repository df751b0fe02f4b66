#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// All spellings of all secrets, found in one pass over a text.
///
/// Knows needles as octets; escapes are taken out of the text before (see `EscapeView`).
struct NeedleIndex: Sendable {
    struct Hit: Sendable, Hashable {
        var range: Range<Int>
        var secret: Int
        var form: Needle.Form
    }

    /// Shortest needle: six octets of base64 are seven characters.
    static let lengthLimit = 6
    /// Octets that are compared of a long needle before it counts as found, so that no text makes each of its octets cost more.
    static let compareLimit = 1024

    private var octets: [UInt8] = []
    private var needles: [Needle] = []
    private var short = NeedleTable(window: 6, block: 4)
    private var long = NeedleTable(window: 16, block: 8)

    var isEmpty: Bool { self.needles.isEmpty }

    /// Enters the spellings of a secret that no view of a text brings together.
    mutating func insert(_ secret: [UInt8], as number: Int, standsAlone: Bool) {
        guard secret.count >= Self.lengthLimit else { return }
        self.insert(secret, number, .plain, standsAlone)
        let canonical = EscapeView.canonical(secret)
        if canonical != secret, canonical.count >= Self.lengthLimit { self.insert(canonical, number, .plain, standsAlone) }
        if secret.contains(32) {
            // A form's plus sign.
            self.insert(secret.map { $0 == 32 ? UInt8(ascii: "+") : $0 }, number, .plain, standsAlone)
        }
        for alignment in 0..<3 {
            let core = Base64Run.core(of: secret, alignment: alignment)
            self.insert(core, number, .base64(alignment: alignment), false)
            let other = core.map(Base64Run.urlSafe)
            if other != core { self.insert(other, number, .base64(alignment: alignment), false) }
        }
        // A word's would be found within other words'.
        guard !standsAlone else { return }
        let digits = Array(Hex.encode(secret).utf8)
        for spelling in Set([digits, digits.map { $0 >= 97 ? $0 & ~32 : $0 }]) { self.insert(spelling, number, .hex, false) }
        self.insert(Self.wide(secret), number, .wide, false)
    }

    /// Octets with zeros between them.
    static func wide(_ octets: [UInt8]) -> [UInt8] { Array(octets.flatMap { [$0, 0] }.dropLast()) }

    private mutating func insert(_ octets: [UInt8], _ secret: Int, _ form: Needle.Form, _ standsAlone: Bool) {
        let number = Int32(self.needles.count)
        self.needles.append(
            Needle(
                secret: Int32(secret), form: form, start: self.octets.count, length: min(octets.count, Self.compareLimit),
                fullLength: octets.count, standsAlone: standsAlone))
        self.octets.append(contentsOf: octets)
        let compared = octets.prefix(Self.compareLimit)
        compared.withUnsafeBytes { bytes in
            if bytes.count >= self.long.window { self.long.insert(number, bytes) } else { self.short.insert(number, bytes) }
        }
    }

    /// Everything that is found, in no order; `isWanted` answers whether to go on.
    func search(_ text: UnsafeRawBufferPointer, deliver: (Hit) -> Void) {
        self.octets.withUnsafeBytes { octets in
            for table in [self.short, self.long] where !table.isEmpty {
                table.search(text) { number, start in
                    let needle = self.needles[Int(number)]
                    guard let end = Self.end(of: needle, octets, in: text, at: start) else { return nil }
                    deliver(Hit(range: start..<end, secret: Int(needle.secret), form: needle.form))
                    return end
                }
            }
        }
    }

    private static func end(of needle: Needle, _ octets: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, at start: Int) -> Int? {
        guard start >= 0, text.count - start >= needle.length, let base = text.baseAddress, let own = octets.baseAddress,
            memcmp(base + start, own + needle.start, needle.length) == 0
        else { return nil }
        var length = needle.length
        while length < needle.fullLength, start + length < text.count, text[start + length] == octets[needle.start + length] {
            length += 1
        }
        let end = start + length
        guard needle.standsAlone else { return end }
        if start > 0, FormSpelling.isAlphanumeric(text[start - 1]) { return nil }
        if end < text.count, FormSpelling.isAlphanumeric(text[end]) { return nil }
        return end
    }
}
