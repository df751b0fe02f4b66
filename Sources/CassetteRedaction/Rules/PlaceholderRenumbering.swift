public import CassetteModel
package import TapeBytes

/// Gives placeholders of a cassette other numbers, so that they differ from those of other cassettes.
///
/// Each recording numbers its secrets from 1. The placeholders in a merged cassette would otherwise be equal for different secrets.
public struct PlaceholderRenumbering: Sendable {
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
        /// The numbers of placeholders of all kinds.
        public var all: Set<Int> { self.ofNumbers.union(self.placeholders.map(\.number)) }

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

    private let pairs: [(old: [UInt8], new: Placeholder)]
    /// The old numbers by the new ones.
    private let olds: [Int: Int]

    /// - Parameters:
    ///   - found: the placeholders of the cassette.
    ///   - number: the new number of each old one. A new number is not that of another placeholder, old or new, because a text may be
    ///     searched more than once.
    /// - Returns: nil if two numbers would become equal, there are too many placeholders, or a number has no room for more digits.
    public init?(_ found: Found, number: (Int) -> Int) {
        let all = found.all
        let changed = all.filter { number($0) != $0 }
        let olds = Dictionary(changed.map { (number($0), $0) }) { first, _ in first }
        guard !found.isFull, olds.count == changed.count, all.isDisjoint(with: olds.keys),
            found.ofNumbers.allSatisfy({ number($0) < 99_999 })
        else { return nil }
        var pairs: [(old: [UInt8], new: Placeholder)] = []
        for text in found.texts {
            guard let (old, new) = Placeholder.renumbered(text, number: number) else { return nil }
            if old.number != new.number { pairs.append((text, new)) }
        }
        self.olds = olds
        self.pairs = pairs + found.ofNumbers.filter(changed.contains).map { Placeholder.renumbered(number: $0, to: number($0)) }
    }

    /// The placeholder that a new one has replaced.
    public func old(_ new: Placeholder) -> Placeholder { Placeholder(kind: new.kind, number: self.olds[new.number] ?? new.number) }

    /// A redactor that only renumbers placeholders.
    package func redactor(makeDigest: @escaping @Sendable () -> any ContentDigest) -> Redactor {
        Redactor(rules: .standard, vault: SecretVault(renumbering: self.pairs), makeDigest: makeDigest)
    }
}
