internal import CassetteModel
internal import TapeBytes

/// The values of requests at places that rules ignore or have a pattern for. They do not count for equality, but of recorded exchanges whose
/// requests are otherwise equal, the one with the client's own values answers.
///
/// Values that look like counters are left out: ids that begin at 1 in each run would choose by number, and not in recorded order.
struct OwnValues: Sendable {
    private var byExchange: [UInt32: Set<UInt64>] = [:]
    /// Ascending.
    private var members: [UInt64: [UInt32]] = [:]
    private var count = 0

    var isEmpty: Bool { self.members.isEmpty }

    mutating func append(_ values: Set<UInt64>, index: UInt32) {
        self.count += 1
        guard !values.isEmpty else { return }
        self.byExchange[index] = values
        for value in values { self.members[value, default: []].append(index) }
    }

    /// The exchange that has the most of these values, if they tell exchanges apart; nil if there is none.
    ///
    /// - Parameter isSuitable: whether an exchange has not answered and fits as well as any other.
    func nearest(_ values: Set<UInt64>, isSuitable: (UInt32) -> Bool) -> UInt32? {
        var best: (index: UInt32, equal: Int)?
        for value in values {
            guard let members = self.members[value], members.count < self.count, let first = members.first(where: isSuitable) else {
                continue
            }
            let equal = self.byExchange[first]?.intersection(values).count ?? 0
            guard best.map({ (-$0.equal, $0.index) > (-equal, first) }) ?? true else { continue }
            best = (first, equal)
        }
        return best?.index
    }

    // MARK: Values

    /// - Parameters:
    ///   - url: its query has values, too.
    ///   - exempt: those of the body.
    static func hashes(url: String, _ exempt: [ExemptValue], _ rules: MatchRules) -> Set<UInt64> {
        var hashes: Set<UInt64> = []
        for item in EchoedItems.own(url: url, rules) where !self.isCounter(item.value) {
            hashes.insert(self.hash("query", item.name, item.value))
        }
        for value in exempt where !self.isCounter(self.content(of: value.text)) {
            hashes.insert(self.hash("body", value.pointer, value.text))
        }
        return hashes
    }

    private static func hash(_ place: String, _ name: [UInt8], _ value: [UInt8]) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(place)
        hasher.combine(name)
        hasher.combine(value)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    private static func content(of text: [UInt8]) -> ArraySlice<UInt8> {
        text.count >= 2 && text.first == UInt8(ascii: "\"") ? text[1..<text.count - 1] : text[...]
    }

    /// A number, or a word with one at its end: `17`, `req-12`. A longer number is a time or an id.
    private static func isCounter(_ value: some BidirectionalCollection<UInt8>) -> Bool {
        let isDigit: (UInt8) -> Bool = { (48...57).contains($0) }
        let digits = value.reversed().prefix(while: isDigit).count
        return value.isEmpty || 1...6 ~= digits && !value.dropLast(digits).contains(where: isDigit)
    }
}
