public import TapeBytes
internal import CassetteFormat
public import CassetteModel
internal import CassetteStore

/// Takes exchanges out of a cassette by their ids, and then the bodies that nobody names any more.
///
/// The others keep their ids. The new file takes the place of the old one when it is on the disk.
public struct CassettePruner {
    public struct Outcome: Sendable, Hashable {
        public var removed: [CassetteDiff.Exchange] = []
        public var kept = 0
        /// Files that went with them; none in a dry run.
        public var removedFiles = 0
    }

    private let path: String
    /// When those began that are to go; nil where nobody says.
    private let starts: [Int: Timestamp?]

    /// - Parameter exchanges: an id with another start than the cassette's is another cassette's, and nothing is removed.
    public init(path: String, exchanges: [(id: Int, started: Timestamp?)]) {
        self.path = path
        self.starts = Dictionary(exchanges.map { ($0.id, $0.started) }) { $1 ?? $0 }
    }

    /// - Parameter isDry: only says what would be removed.
    public func run(isDry: Bool, recorder: String) throws(CassetteError) -> Outcome {
        if isDry { return try self.choice(in: CassetteReader(path: self.path)).outcome }
        let appender = try CassetteAppender.open(self.path, recorder: recorder)
        let rewriter = try appender.finish()
        var (outcome, order) = try self.choice(in: rewriter.reader)
        guard !outcome.removed.isEmpty else { return outcome }
        do {
            try rewriter.rewrite(order: order)
        } catch {
            throw error as? CassetteError
                ?? CassetteError(.unwritable, "\"\(self.path)\" was not written anew (\(error)): it is as it was.")
        }
        // Where a cassette beside this one cannot be read nobody knows what may go: the files stay, and `verify` names them.
        if let references = try? CassetteReferences(familyOf: self.path) {
            outcome.removedFiles = try references.tidy(BodyStore(cassettePath: self.path))
        }
        // Its lock: a recorder that came before the files are gone could lose what it has just written.
        withExtendedLifetime(rewriter) {}
        return outcome
    }

    private func choice(in reader: CassetteReader) throws(CassetteError) -> (outcome: Outcome, order: [Int]) {
        var outcome = Outcome()
        var order: [Int] = []
        var seen: Set<Int> = []
        for position in 0..<reader.count {
            let summary = try reader.bytes(at: position).withUnsafeBytes { InteractionSummaryReader.read($0) }
            guard let summary, let started = self.starts[summary.id] else {
                order.append(position)
                continue
            }
            guard started == nil || started == summary.started else {
                throw CassetteError(
                    .notFound,
                    "the report's exchange with the id \(summary.id) is not the one of \"\(self.path)\": replay this cassette again for a report of its own."
                )
            }
            guard seen.insert(summary.id).inserted else {
                throw CassetteError(
                    .damaged, "\"\(self.path)\" has two exchanges with the id \(summary.id): give one of them another, and replay again.")
            }
            outcome.removed.append(
                CassetteDiff.Exchange(
                    number: position + 1, id: summary.id, method: summary.method, url: SecretShapes.shownURL(summary.url)))
        }
        if let missing = self.starts.keys.filter({ !seen.contains($0) }).min() {
            throw CassetteError(
                .notFound,
                "\"\(self.path)\" has no exchange with the id \(missing), which the report names: replay this cassette again for a report of its own."
            )
        }
        outcome.kept = order.count
        return (outcome, order)
    }
}
