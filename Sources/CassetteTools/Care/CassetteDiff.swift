internal import CassetteFormat
public import CassetteModel
public import CassettePlayback
internal import CassetteStore
public import TapeBytes

/// Compares two cassettes exchange by exchange: what was added, removed and changed.
///
/// Holds two exchanges in memory at a time, and the requests' methods, URLs and digests of their bodies.
public struct CassetteDiff {
    public enum Entry: Sendable, Hashable {
        case added(Exchange)
        case removed(Exchange)
        case changed(old: Exchange, new: Exchange, changes: [FieldChange])
    }

    /// One exchange, as it is shown.
    public struct Exchange: Sendable, Hashable {
        /// In order of request start, from 1.
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

    public init(
        old: RecordedCassette, new: RecordedCassette, showsAll: Bool, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) {
        self.old = old
        self.new = new
        self.digest = digest
        self.comparison = ExchangeComparison(old: old.path, new: new.path, showsAll: showsAll, digest: digest)
    }

    /// - Returns: how many exchanges are the same.
    public func run(_ found: (Entry) throws -> Void) throws -> Int {
        var same = 0
        for step in try self.steps() {
            switch step {
            case .added(let index): try found(.added(Exchange(number: index + 1, try self.new.interaction(at: index))))
            case .removed(let index): try found(.removed(Exchange(number: index + 1, try self.old.interaction(at: index))))
            case .both(let old, let new):
                let (one, other) = (try self.old.interaction(at: old), try self.new.interaction(at: new))
                let changes = try self.comparison.changes(one, other)
                guard !changes.isEmpty else {
                    same += 1
                    continue
                }
                try found(.changed(old: Exchange(number: old + 1, one), new: Exchange(number: new + 1, other), changes: changes))
            }
        }
        return same
    }

    /// Pairs by the new cassette's match rules.
    private func steps() throws -> [ExchangePairing.Step] {
        let rules = try self.new.matchRules()
        return ExchangePairing(old: try self.requests(self.old, rules), new: try self.requests(self.new, rules)).steps
    }

    private func requests(_ cassette: RecordedCassette, _ rules: MatchRules) throws -> [PairedRequest] {
        try (0..<cassette.count).map { index in
            let summary = try cassette.bytes(at: index).withUnsafeBytes { InteractionSummaryReader.read($0) }
            let (method, url) = (summary?.method ?? "", summary?.url ?? "")
            guard rules.looksAtHeaders || summary?.mayHaveRequestBody != false else {
                return PairedRequest(method: method, url: url, rules: rules)
            }
            // What cannot be read is told where the two are compared.
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

/// What differs between two recorded exchanges of the same request, field by field.
///
/// What says nothing of the exchange is left out, unless all is asked for: when it was, how long it took, over which connection, and the
/// header fields of `VolatileFields`.
public struct ExchangeComparison {
    private let bodies: BodyComparison
    private let showsAll: Bool

    /// - Parameters:
    ///   - old: path of the cassette of the first exchanges, for bodies beside it; `new` of the second ones.
    ///   - digest: makes a fresh SHA-256.
    public init(old: String, new: String, showsAll: Bool, digest: @escaping () -> any ContentDigest = { PortableSHA256() }) {
        self.bodies = BodyComparison(
            old: BodyReader(cassettePath: old), new: BodyReader(cassettePath: new), digest: digest, showsAll: showsAll)
        self.showsAll = showsAll
    }

    /// All changes, of the request first.
    public func changes(_ old: Interaction, _ new: Interaction) throws -> [FieldChange] {
        try self.requestChanges(old.request, new.request) + self.answerChanges(old, new)
    }

    public func requestChanges(_ old: RecordedRequest, _ new: RecordedRequest) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("method", old.method, new.method, &changes)
        let (one, other) = (URLPieces(old.url), URLPieces(new.url))
        self.note("url", SecretShapes.shownURL(one.base), SecretShapes.shownURL(other.base), &changes)
        changes += NamedValues.changes(
            one.query.map { ($0.name, $0.value ?? "") }, other.query.map { ($0.name, $0.value ?? "") }, kind: "query:",
            showsAll: self.showsAll)
        self.note("version", old.version.description, new.version.description, &changes)
        changes += HeaderComparison.changes(old.headers, new.headers, showsAll: self.showsAll)
        changes += try self.bodies.changes(old.body, new.body)
        changes += self.trailers(old.trailers, new.trailers)
        if self.showsAll { changes += self.form(old.body, new.body) }
        return changes.map { self.placed("request", $0) }
    }

    /// What came back, and how it ended.
    public func answerChanges(_ old: Interaction, _ new: Interaction) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("outcome", Self.words(old.outcome), Self.words(new.outcome), &changes)
        let interim = { (interaction: Interaction) in interaction.interim.map { String($0.status) }.joined(separator: ", ") }
        self.note("interim", interim(old), interim(new), &changes)
        switch (old.response, new.response) {
        case (nil, nil): break
        case (let one?, nil): changes.append(FieldChange("response", String(one.status), nil))
        case (nil, let other?): changes.append(FieldChange("response", nil, String(other.status)))
        case (let one?, let other?): changes += try self.responseChanges(one, other).map { self.placed("response", $0) }
        }
        guard self.showsAll else { return changes }
        self.note("id", String(old.id), String(new.id), &changes)
        self.note("started", old.started.formatted, new.started.formatted, &changes)
        self.note("remote", old.connection?.remote, new.connection?.remote, &changes)
        self.note("total", old.timing.total.map { "\($0) ms" }, new.timing.total.map { "\($0) ms" }, &changes)
        return changes
    }

    private func responseChanges(_ old: RecordedResponse, _ new: RecordedResponse) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("status", String(old.status), String(new.status), &changes)
        if old.status == new.status {
            self.note("reason", String(decoding: old.reason, as: UTF8.self), String(decoding: new.reason, as: UTF8.self), &changes)
        }
        self.note("version", old.version.description, new.version.description, &changes)
        changes += HeaderComparison.changes(old.headers, new.headers, showsAll: self.showsAll)
        changes += try self.bodies.changes(old.body, new.body)
        changes += self.trailers(old.trailers, new.trailers)
        if self.showsAll { changes += self.form(old.body, new.body) }
        return changes
    }

    private func trailers(_ old: HeaderFields?, _ new: HeaderFields?) -> [FieldChange] {
        HeaderComparison.changes(old ?? HeaderFields(), new ?? HeaderFields(), showsAll: self.showsAll).map { self.placed("trailer", $0) }
    }

    /// How the octets came: their number on the wire, and the pieces.
    private func form(_ old: Body?, _ new: Body?) -> [FieldChange] {
        var changes: [FieldChange] = []
        self.note("size", old.map { String($0.size) }, new.map { String($0.size) }, &changes)
        let pieces = { (body: Body?) in body?.arrival.map { "\($0.pieces.count) \($0.isChunked ? "chunks" : "reads")" } }
        self.note("arrival", pieces(old), pieces(new), &changes)
        return changes
    }

    private static func words(_ outcome: Outcome) -> String {
        switch outcome {
        case .complete: "complete"
        case .cut(let cut): "cut by \(cut.by.rawValue)"
        case .failed(let failure): "failed: \(failure.kind.rawValue)"
        }
    }

    private func note(_ place: String, _ old: String?, _ new: String?, _ changes: inout [FieldChange]) {
        if old != new { changes.append(FieldChange(place, old, new)) }
    }

    private func placed(_ message: String, _ change: FieldChange) -> FieldChange {
        var change = change
        change.place = "\(message) \(change.place)"
        return change
    }
}
