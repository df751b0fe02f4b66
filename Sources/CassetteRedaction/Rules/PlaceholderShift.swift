public import CassetteModel
package import TapeBytes

/// Adds the same number to those of all placeholders of a cassette, so that they differ from those of other cassettes.
///
/// Each recording numbers its secrets from 1. The placeholders in a merged cassette would otherwise be equal for different secrets.
public struct PlaceholderShift: Sendable {
    /// The placeholders in texts of a cassette, in each form and spelling that they have there.
    public struct Found: Sendable {
        /// Without percent-encoding.
        private(set) var texts: Set<[UInt8]> = []
        public private(set) var placeholders: Set<Placeholder> = []
        /// Numbers that stand for other numbers. Each looks like data, so it counts only if it is not higher than placeholders are.
        private var numbers: Set<Int> = []

        /// The most different texts that are kept. A token has a text of its own for each of its times.
        static let limit = 50_000

        public init() {}

        /// Whether there are more placeholders than can be kept.
        public var isFull: Bool { self.texts.count >= Self.limit }
        public var highest: Int { self.placeholders.map(\.number).max() ?? 0 }

        /// The numbers that stand for secrets.
        public var ofNumbers: Set<Int> {
            let most = max(self.highest, Self.leastNumber)
            return self.numbers.filter { $0 <= most }
        }

        /// A recording whose only secrets are numbers has fewer than this.
        private static let leastNumber = 99

        public mutating func add(_ text: UnsafeRawBufferPointer) {
            var offset = 0
            while offset < text.count {
                let byte = text[offset]
                guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "%") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "5"),
                    let (placeholder, length) = Placeholder.spelled(in: text, at: offset)
                else {
                    offset += 1
                    continue
                }
                let bytes = UnsafeRawBufferPointer(rebasing: text[offset..<offset + length])
                if !self.isFull {
                    self.texts.insert(EscapeView(bytes)?.bytes ?? Array(bytes))
                    self.placeholders.insert(placeholder)
                }
                offset += length
            }
            var from = 0
            while let found = NumberPlaceholder.first(in: text, from: from) {
                self.numbers.insert(found.number)
                from = found.range.upperBound
            }
        }
    }

    /// What is added to each number.
    public let amount: Int
    private let pairs: [(old: [UInt8], new: Placeholder)]

    /// - Parameters:
    ///   - found: the placeholders of the cassette.
    ///   - shift: at least the highest number in it, so that no new placeholder equals an old one.
    /// - Returns: nil if there are too many placeholders, or a number that has no room for more digits.
    public init?(_ found: Found, by shift: Int) {
        guard !found.isFull, shift >= found.highest, found.ofNumbers.allSatisfy({ $0 + shift < 99_999 }) else { return nil }
        var pairs: [(old: [UInt8], new: Placeholder)] = []
        for text in found.texts {
            guard let (_, new) = Placeholder.renumbered(text, by: shift) else { return nil }
            pairs.append((text, new))
        }
        self.amount = shift
        self.pairs = pairs + found.ofNumbers.map { Placeholder.renumbered(number: $0, by: shift) }
    }

    /// A redactor that only renumbers placeholders.
    package func redactor(makeDigest: @escaping @Sendable () -> any ContentDigest) -> Redactor {
        Redactor(rules: .standard, vault: SecretVault(renumbering: self.pairs), makeDigest: makeDigest)
    }
}
