internal import TapeBytes

/// Secrets that were removed from many answers outside of the places that name them. They may be ordinary values, whose removal ruins a
/// site.
///
/// Any thread may use it.
public final class SpreadSecrets: Sendable {
    /// In up to this many answers, a secret is not reported.
    private static let fewAnswers = 3
    /// The most secrets that are counted, and the most that are reported.
    private static let limit = 1 << 14
    private static let wordLimit = 5

    private let answers = Guarded<[Placeholder: Int]>([:])

    public init() {}

    /// Counts one answer for each secret found in it.
    func add(_ hits: SecretHits) {
        let found = hits.placeholders
        guard !found.isEmpty else { return }
        self.answers.withLock { answers in
            for placeholder in found where answers[placeholder] != nil || answers.count < Self.limit {
                answers[placeholder, default: 0] += 1
            }
        }
    }

    /// Lines for people, without the name of the file. Secrets in the most answers come first.
    public var words: [String] {
        let many = self.answers.withLock { $0 }.filter { $0.value > Self.fewAnswers }.sorted {
            ($1.value, $0.key.description) < ($0.value, $1.key.description)
        }
        var lines = many.prefix(Self.wordLimit).map { placeholder, count in
            "\(placeholder.description) was put into \(count) answers only because its value occurs in them: if it is an ordinary value, record again "
                + "with --keep and the place that names it, for example \"--keep json:/user/token\"."
        }
        if many.count > Self.wordLimit {
            lines.append("\(many.count - Self.wordLimit) more secrets were found in more than \(Self.fewAnswers) answers.")
        }
        return lines
    }
}

/// The known secrets found in one answer outside of their own places.
final class SecretHits: Sendable {
    private let found = Guarded<Set<Placeholder>>([])

    var placeholders: Set<Placeholder> { self.found.withLock { $0 } }

    func add(_ placeholder: Placeholder) { self.found.withLock { _ = $0.insert(placeholder) } }
}
