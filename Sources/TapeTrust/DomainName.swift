/// Converts a host name to the form used in certificates and protocols: lower-case ASCII, with A-labels (RFC 5891, 4).
///
/// Maps upper case and letters with separate accents. Rejects labels that need more mapping (full-width letters, ligatures, symbols); those
/// can be given as A-labels.
package enum DomainName {
    package struct Problem: Error, Hashable {
        /// Names the label.
        package var reason: String
    }

    /// Removes a final dot.
    package static func ascii(_ name: Substring) throws(Problem) -> String {
        var labels: [String] = []
        let name = name.hasSuffix(".") ? name.dropLast() : name
        guard !name.isEmpty else { throw Problem(reason: "the name is empty") }
        for label in name.split(separator: ".", omittingEmptySubsequences: false) { labels.append(try self.label(label)) }
        if let last = labels.last, last.utf8.allSatisfy({ (48...57).contains($0) }) {
            throw Problem(reason: "it ends in the number \"\(last)\" and is not an IPv4 address")
        }
        let text = labels.joined(separator: ".")
        // RFC 1035, 2.3.4: 255 bytes on the wire, two of them for the first length and the end.
        guard text.utf8.count <= 253 else { throw Problem(reason: "the name is longer than 253 bytes") }
        return text
    }

    private static func label(_ label: Substring) throws(Problem) -> String {
        guard !label.isEmpty else { throw Problem(reason: "a part between two dots is empty") }
        let lower = label.lowercased()
        let text = lower.utf8.allSatisfy { $0 < 0x80 } ? lower : "xn--" + Punycode.encode(try self.mapped(lower))
        // RFC 1123 does not allow underscores, but many host names contain them.
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95 }) else {
            throw Problem(reason: "\"\(label)\" has characters that host names cannot have")
        }
        guard text.utf8.count <= 63 else { throw Problem(reason: "\"\(label)\" takes more than 63 bytes") }
        return text
    }

    /// The scalars of a lower-case U-label, composed.
    private static func mapped(_ label: String) throws(Problem) -> [Unicode.Scalar] {
        var mapped: [Unicode.Scalar] = []
        for character in label { mapped += self.composed(character) }
        for scalar in mapped where !scalar.isASCII {
            guard self.isAllowed(scalar) else {
                throw Problem(
                    reason: "\"\(label)\" has a character that is not supported; write the label as an A-label, xn--…")
            }
        }
        return mapped
    }

    /// A subset of RFC 5892: letters, marks and digits that compatibility mapping does not change, and its two exceptions ß and ς.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "ß" || scalar == "ς" { return true }
        guard !scalar.properties.changesWhenNFKCCaseFolded else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: return true
        default: return false
        }
    }

    // MARK: Composition

    /// The precomposed letters: Latin, Greek, Cyrillic, Kana.
    private static let precomposed: [ClosedRange<UInt32>] = [0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF, 0x3040...0x30FF]

    /// A character with its accents, in as few scalars as canonical composition allows.
    private static func composed(_ character: Character) -> [Unicode.Scalar] {
        var composed: [Unicode.Scalar] = []
        for scalar in character.unicodeScalars {
            if let last = composed.last, let one = self.one(last, scalar) {
                composed[composed.count - 1] = one
            } else {
                composed.append(scalar)
            }
        }
        return composed
    }

    /// The scalar that the two compose to; nil if there is none. Relies on Swift's strings being equal if canonically equivalent.
    private static func one(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
        let text = String(String.UnicodeScalarView([first, second]))
        let ranges: [ClosedRange<UInt32>] = (0x1100...0x11FF).contains(second.value) ? [0xAC00...0xD7A3] : self.precomposed
        for value in ranges.joined() {
            guard let scalar = Unicode.Scalar(value), String(scalar) == text else { continue }
            return scalar
        }
        return nil
    }
}

/// Encodes Unicode as letters, digits and hyphens (RFC 3492).
enum Punycode {
    // RFC 3492, 5.
    private static let base: UInt32 = 36
    private static let tMin: UInt32 = 1
    private static let tMax: UInt32 = 26
    private static let skew: UInt32 = 38
    private static let damp: UInt32 = 700

    /// The result lacks the prefix `xn--` (RFC 3492, 6.3). Encodes at most 256 characters, too few to overflow 32 bits.
    static func encode(_ scalars: [Unicode.Scalar]) -> String {
        let limit = 256
        let input = scalars.prefix(limit).map(\.value)
        var output = input.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basicCount = UInt32(output.count)
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }
        var handled = basicCount
        var next: UInt32 = 0x80
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        while handled < UInt32(input.count), let least = input.filter({ $0 >= next }).min() {
            delta += (least - next) * (handled + 1)
            next = least
            for value in input {
                if value < next { delta += 1 }
                guard value == next else { continue }
                self.append(delta, bias, &output)
                bias = self.adapted(delta, handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func append(_ delta: UInt32, _ bias: UInt32, _ output: inout [UInt8]) {
        var rest = delta
        var position = self.base
        while true {
            let threshold = position <= bias ? self.tMin : min(position - bias, self.tMax)
            guard rest >= threshold else { break }
            output.append(self.digit(threshold + (rest - threshold) % (self.base - threshold)))
            rest = (rest - threshold) / (self.base - threshold)
            position += self.base
        }
        output.append(self.digit(rest))
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / self.damp : delta / 2
        rest += rest / count
        var steps: UInt32 = 0
        while rest > (self.base - self.tMin) * self.tMax / 2 {
            rest /= self.base - self.tMin
            steps += self.base
        }
        return steps + (self.base - self.tMin + 1) * rest / (rest + self.skew)
    }

    private static func digit(_ value: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value < 26 ? 97 + value : 22 + value) }
}
