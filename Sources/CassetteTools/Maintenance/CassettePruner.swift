internal import CassetteFormat
public import CassetteModel
internal import CassetteStore
public import TapeBytes

/// Removes exchanges from a cassette by their ids, and then the bodies that no exchange refers to any more.
///
/// The other exchanges keep their ids. The new file replaces the old one once it is on disk.
public struct CassettePruner {
    public struct Outcome: Sendable, Hashable {
        public var removed: [CassetteDiff.Exchange] = []
        public var kept = 0
        /// How many files were removed with them; 0 in a dry run.
        public var removedFiles = 0
    }

    private let path: String
    /// By id, when the exchanges to remove began; nil if that is unknown.
    private let starts: [Int: Timestamp?]

    /// - Parameter exchanges: an id whose start differs from the cassette's belongs to another cassette; then nothing is removed.
    public init(path: String, exchanges: [(id: Int, started: Timestamp?)]) {
        self.path = path
        self.starts = Dictionary(exchanges.map { ($0.id, $0.started) }) { $1 ?? $0 }
    }

    /// - Parameter isDry: only returns what would be removed.
    public func run(isDry: Bool, recorder: String) throws(CassetteError) -> Outcome {
        if isDry { return try self.choice(in: CassetteReader(path: self.path)).outcome }
        try CassettePlace.refuseEmptyFile(self.path)
        let appender = try CassetteAppender.open(self.path, recorder: recorder)
        try JournalRecovery.run(appender, BodyStore(cassettePath: self.path))
        let rewriter = try appender.finish()
        var (outcome, order) = try self.choice(in: rewriter.reader)
        guard !outcome.removed.isEmpty else {
            // Bodies left by a command that was killed.
            let store = try BodyStore(cassettePath: self.path)
            if store.hasFiles, let references = try? CassetteReferences(familyOf: self.path) {
                outcome.removedFiles = try references.tidy(store)
            }
            return outcome
        }
        do {
            try rewriter.rewrite(order: order)
        } catch {
            throw error as? CassetteError
                ?? CassetteError(.unwritable, "\"\(self.path)\" was not rewritten (\(error)): it is unchanged.", cause: error)
        }
        // If a cassette next to this one cannot be read, it is unknown which files are unused. They are kept, and `verify` lists them.
        if let references = try? CassetteReferences(familyOf: self.path) {
            outcome.removedFiles = try references.tidy(BodyStore(cassettePath: self.path))
        }
        // Keeps the lock: a recorder that starts before the files are gone could lose what it has just written.
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
                    "the report's exchange with the id \(summary.id) is a different one in \"\(self.path)\": replay this cassette again to get its own report."
                )
            }
            guard seen.insert(summary.id).inserted else {
                throw CassetteError(
                    .damaged, "\"\(self.path)\" has two exchanges with the id \(summary.id): give one of them another id, and replay again."
                )
            }
            outcome.removed.append(
                CassetteDiff.Exchange(
                    number: position + 1, id: summary.id, method: summary.method, url: SecretShapes.shownURL(summary.url)))
        }
        if let missing = self.starts.keys.filter({ !seen.contains($0) }).min() {
            throw CassetteError(
                .notFound,
                "\"\(self.path)\" has no exchange with the id \(missing), which the report names: replay this cassette again to get its own report."
            )
        }
        outcome.kept = order.count
        return (outcome, order)
    }
}

/// The exchanges that a replay did not use, read from its JSON report (docs/replay-report.md).
public struct UnusedReport: Sendable {
    /// The cassette as named by the replay; nil if the report does not contain it.
    public let cassette: String?
    /// Their ids in the cassette, each with its start if the report contains it.
    public let exchanges: [(id: Int, started: Timestamp?)]

    /// In bytes: a few hundred for each of a million exchanges.
    public static let sizeLimit = 256 << 20

    /// Takes `unusedExchanges`, objects with an `id`, or `unused`, an array of ids.
    public init(_ text: [UInt8], path: String) throws(CassetteError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(text)
        } catch {
            throw CassetteError(
                .damaged, "\"\(path)\" line \(error.line) is not JSON (\(error.reason)): pass the file that \"--report FILE.json\" wrote.",
                cause: error)
        }
        let root = document.root
        guard let list = [root["unusedExchanges"], root["unused"]].compactMap({ $0 }).first(where: { $0.kind == .array }) else {
            throw CassetteError(
                .damaged,
                "\"\(path)\" has no list of unused exchanges: pass the file that \"wiretape replay --report FILE.json\" wrote.")
        }
        var exchanges: [(id: Int, started: Timestamp?)] = []
        for element in list.elements {
            guard let id = element.int ?? element["id"]?.int else {
                throw CassetteError(.damaged, "\"\(path)\" line \(element.line): an unused exchange has no id: create the report again.")
            }
            exchanges.append((id, element["started"]?.string.flatMap { Timestamp($0) }))
        }
        self.exchanges = exchanges
        self.cassette = root["cassette"]?.string
    }
}
