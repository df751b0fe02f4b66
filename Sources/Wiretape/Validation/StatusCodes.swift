/// A set of statuses, told in ranges.
struct StatusCodes: Sendable, CustomStringConvertible {
    /// There are 900 statuses, and a sequence may have no end.
    private static let limit = 1000

    private let codes: Set<Int>

    init(_ codes: some Sequence<Int>) {
        var known: Set<Int> = []
        for code in codes.prefix(Self.limit) where (100...999).contains(code) { known.insert(code) }
        self.codes = known
    }

    func contains(_ status: Int) -> Bool { self.codes.contains(status) }

    /// `200 to 299, or 404`
    var description: String {
        guard !self.codes.isEmpty else { return "none" }
        var ranges: [ClosedRange<Int>] = []
        for code in self.codes.sorted() {
            if let last = ranges.last, last.upperBound == code - 1 {
                ranges[ranges.count - 1] = last.lowerBound...code
            } else {
                ranges.append(code...code)
            }
        }
        let texts = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
        guard let last = texts.last, texts.count > 1 else { return texts.joined() }
        return texts.dropLast().joined(separator: ", ") + " or " + last
    }
}
