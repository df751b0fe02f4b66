internal import TapeBytes

/// Secrets that were taken out of many answers beyond the places that name them: perhaps ordinary values, whose loss spoils a site.
///
/// Any thread may use it.
public final class SpreadSecrets: Sendable {
    /// Answers in which a secret may be found without a report.
    private static let fewAnswers = 3
    /// Secrets that are counted, and those that are reported.
    private static let limit = 1 << 14
    private static let wordLimit = 5

    private let answers = Guarded<[Placeholder: Int]>([:])

    public init() {}

    /// Counts one answer for each secret that was found in it.
    func add(_ hits: SecretHits) {
        let found = hits.placeholders
        guard !found.isEmpty else { return }
        self.answers.withLock { answers in
            for placeholder in found where answers[placeholder] != nil || answers.count < Self.limit {
                answers[placeholder, default: 0] += 1
            }
        }
    }

    /// Lines for people, those of the most answers first, without the name of the file.
    public var words: [String] {
        let many = self.answers.withLock { $0 }.filter { $0.value > Self.fewAnswers }.sorted {
            ($1.value, $0.key.description) < ($0.value, $1.key.description)
        }
        var lines = many.prefix(Self.wordLimit).map { placeholder, count in
            "\(placeholder.description) stands in \(count) answers where nothing but its value was found: if it is an ordinary value, record again "
                + "with --keep and the place that names it, for example \"--keep json:/user/token\"."
        }
        if many.count > Self.wordLimit {
            lines.append("\(many.count - Self.wordLimit) more secrets were found in more than \(Self.fewAnswers) answers.")
        }
        return lines
    }
}

/// The known secrets that one answer holds beyond their own places.
final class SecretHits: Sendable {
    private let found = Guarded<Set<Placeholder>>([])

    var placeholders: Set<Placeholder> { self.found.withLock { $0 } }

    func add(_ placeholder: Placeholder) { self.found.withLock { _ = $0.insert(placeholder) } }
}
