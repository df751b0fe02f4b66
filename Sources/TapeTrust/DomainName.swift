/// Turns a host's name into what stands in a certificate and on the wire: lower-case ASCII, with A-labels (RFC 5891, 4).
///
/// Knows the mapping of upper case and of letters with separate accents, and refuses labels that would need more
/// (full-width letters, ligatures, symbols): people can write those as A-labels.
package enum DomainName {
    package struct Problem: Error, Hashable {
        /// Names the label.
        package var reason: String
    }

    /// Leaves out a dot at the end.
    package static func ascii(_ name: Substring) throws(Problem) -> String {
        var labels: [String] = []
        let name = name.hasSuffix(".") ? name.dropLast() : name
        guard !name.isEmpty else { throw Problem(reason: "the name is empty") }
        for label in name.split(separator: ".", omittingEmptySubsequences: false) { labels.append(try self.label(label)) }
        if let last = labels.last, last.utf8.allSatisfy({ (48...57).contains($0) }) {
            throw Problem(reason: "a name that ends in the number \"\(last)\" is no address either")
        }
        let text = labels.joined(separator: ".")
        // RFC 1035, 2.3.4: 255 octets on the wire, of which the name's first length and its end take two.
        guard text.utf8.count <= 253 else { throw Problem(reason: "the name is longer than 253 octets") }
        return text
    }

    private static func label(_ label: Substring) throws(Problem) -> String {
        guard !label.isEmpty else { throw Problem(reason: "a part between two dots is empty") }
        let lower = label.lowercased()
        let text = lower.utf8.allSatisfy { $0 < 0x80 } ? lower : "xn--" + Punycode.encode(try self.mapped(lower))
        // Underscores are in no host's name by RFC 1123, and in many hosts' names.
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95 }) else {
            throw Problem(reason: "\"\(label)\" has characters that no name has")
        }
        guard text.utf8.count <= 63 else { throw Problem(reason: "\"\(label)\" takes more than 63 octets") }
        return text
    }

    /// The scalars of a U-label in lower case and composed.
    private static func mapped(_ label: String) throws(Problem) -> [Unicode.Scalar] {
        var mapped: [Unicode.Scalar] = []
        for character in label { mapped += self.composed(character) }
        for scalar in mapped where !scalar.isASCII {
            guard self.isAllowed(scalar) else {
                throw Problem(
                    reason: "\"\(label)\" has a character that does not stand in names as it is; write the part as its A-label, xn--…")
            }
        }
        return mapped
    }

    /// A short form of RFC 5892: letters, marks and digits that compatibility mapping leaves alone, and its two exceptions ß and ς.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "ß" || scalar == "ς" { return true }
        guard !scalar.properties.changesWhenNFKCCaseFolded else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: return true
        default: return false
        }
    }

    // MARK: Composition

    /// Where precomposed letters are: Latin, Greek, Cyrillic, Kana.
    private static let precomposed: [ClosedRange<UInt32>] = [0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF, 0x3040...0x30FF]

    /// A character with its accents, as few scalars as Unicode's composition makes of it.
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

    /// The scalar that equals both together: equality of characters is canonical equivalence.
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
