internal import CassetteFormat
public import CassetteModel
public import CassettePlayback
internal import CassetteStore
public import TapeBytes

/// Compares two cassettes exchange by exchange: what was added, removed and changed.
///
/// Holds two exchanges in memory at a time, plus the requests' methods, URLs and body digests.
public struct CassetteDiff {
    public enum Entry: Sendable, Hashable {
        case added(Exchange)
        case removed(Exchange)
        case changed(old: Exchange, new: Exchange, changes: [FieldChange])
    }

    public struct Exchange: Sendable, Hashable {
        /// In order of request start, counted from 1.
        public var number: Int
        public var id: Int
        public var method: String
        /// Without secrets.
        public var url: String
    }

    private let old: RecordedCassette
    private let new: RecordedCassette
    private let comparison: ExchangeComparison
    private let digest: () -> any ContentDigest
    private let checksFiles: Bool

    /// - Parameter checksFiles: whether each body that a file holds is read, also if both cassettes name the same SHA-256. Otherwise equal names
    ///   stand for equal bodies, as where the bodies of an old version are not at hand.
    public init(
        old: RecordedCassette, new: RecordedCassette, showsAll: Bool, checksFiles: Bool = true,
        digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) {
        self.old = old
        self.new = new
        self.checksFiles = checksFiles
        self.digest = digest
        self.comparison = ExchangeComparison(old: old.path, new: new.path, showsAll: showsAll, digest: digest)
    }

    /// - Parameters:
    ///   - reading: called with the number of requests of both cassettes that have been read, before anything is found.
    ///   - comparing: called with the number of exchanges that have been compared.
    /// - Returns: how many exchanges are equal.
    public func run(
        reading: (_ done: Int, _ of: Int) -> Void = { _, _ in }, comparing: (_ done: Int, _ of: Int) -> Void = { _, _ in },
        _ found: (Entry) throws -> Void
    ) throws -> Int {
        var same = 0
        var checks =
            self.checksFiles ? (old: BodyFileCheck(self.old.path, self.digest), new: BodyFileCheck(self.new.path, self.digest)) : nil
        let steps = try self.steps(reading)
        for (done, step) in steps.enumerated() {
            comparing(done, steps.count)
            switch step {
            case .added(let index): try found(.added(Exchange(number: index + 1, try self.new.interaction(at: index))))
            case .removed(let index): try found(.removed(Exchange(number: index + 1, try self.old.interaction(at: index))))
            case .both(let old, let new):
                let (one, other) = (try self.old.interaction(at: old), try self.new.interaction(at: new))
                let changes = try self.comparison.changes(one, other)
                guard !changes.isEmpty else {
                    try checks?.old.check(one)
                    try checks?.new.check(other)
                    same += 1
                    continue
                }
                try found(.changed(old: Exchange(number: old + 1, one), new: Exchange(number: new + 1, other), changes: changes))
            }
        }
        return same
    }

    /// Pairs exchanges by the new cassette's match rules.
    private func steps(_ reading: (_ done: Int, _ of: Int) -> Void) throws -> [ExchangePairing.Step] {
        let rules = try self.new.matchRules()
        let count = self.old.count + self.new.count
        let old = try self.requests(self.old, rules) { reading($0, count) }
        let new = try self.requests(self.new, rules) { reading(self.old.count + $0, count) }
        return ExchangePairing(old: old, new: new).steps
    }

    private func requests(_ cassette: RecordedCassette, _ rules: MatchRules, _ reading: (Int) -> Void) throws -> [PairedRequest] {
        try (0..<cassette.count).map { index in
            reading(index)
            let summary = try cassette.bytes(at: index).withUnsafeBytes { InteractionSummaryReader.read($0) }
            let (method, url) = (summary?.method ?? "", summary?.url ?? "")
            guard rules.looksAtHeaders || summary?.mayHaveRequestBody != false else {
                return PairedRequest(method: method, url: url, rules: rules)
            }
            // Unreadable exchanges are reported when the two are compared.
            let request = try? cassette.comparedRequest(at: index, rules: rules, detail: .digests, redaction: nil, digest: self.digest)
            return PairedRequest(method: method, url: url, rules: rules, headers: request?.headers, body: request?.facets ?? .none)
        }
    }
}

extension CassetteDiff.Exchange {
    public init(number: Int, _ interaction: Interaction) {
        self.number = number
        self.id = interaction.id
        self.method = interaction.request.method
        self.url = SecretShapes.shownURL(interaction.request.url)
    }
}
