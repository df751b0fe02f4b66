internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// Takes the secrets out of one exchange and its bodies, in memory or in files, before they get their readable form.
///
/// Not Sendable: lives on the recorder thread, or on that of `PostponedSearch`.
struct ExchangeRedaction {
    /// What was done to both messages.
    typealias Outcome = (request: RedactionOutcome, response: RedactionOutcome)

    /// Bytes of a body that is redacted in memory, where rules for places in JSON apply; a larger one passes through in pieces.
    static let memoryLimit = 4 << 20

    /// Bytes of content that are searched while other exchanges wait: some 40 ms of work. A body in which more is found to be is searched
    /// on another thread.
    static let contentAtOnce = 8 << 20

    private(set) var redactor: Redactor
    let store: BodyStore
    let digest: @Sendable () -> any ContentDigest
    private var searched = SearchedBodies()

    init(redactor: Redactor, store: BodyStore, digest: @escaping @Sendable () -> any ContentDigest) {
        self.redactor = redactor
        self.store = store
        self.digest = digest
    }

    /// The same with a memory of its own, for a second thread.
    func forAnotherThread() -> ExchangeRedaction {
        var other = self
        other.redactor = self.redactor.sharingSecrets()
        other.searched = SearchedBodies()
        return other
    }

    /// The same for searches that end early, with `SearchBudget.Spent`, when the budget is spent.
    func within(_ budget: SearchBudget) -> ExchangeRedaction {
        var other = self
        other.redactor = self.redactor.within(budget)
        return other
    }

    /// What came of a search that may not take long.
    enum Attempt: Equatable {
        /// It is redacted.
        ///
        /// - isDense: a body was so much longer than on the wire that many such searches in a row keep others waiting too.
        case redacted(isDense: Bool)
        /// It takes too long while others wait: nothing is changed.
        case tooLong
    }

    /// Redacts what can be searched while others wait.
    func redactAtOnce(_ exchange: inout LooseExchange) throws -> Attempt {
        guard !self.isTooLong(exchange.request, exchange.interaction.request.headers),
            !self.isTooLong(exchange.response, exchange.interaction.response?.headers ?? HeaderFields())
        else { return .tooLong }
        var copy = exchange
        do {
            let budget = SearchBudget(bytes: Self.contentAtOnce, ratio: SearchBudget.ratio)
            _ = try self.within(budget).redact(&copy.interaction, request: &copy.request, response: &copy.response)
            exchange = copy
            return .redacted(isDense: budget.isDense)
        } catch is SearchBudget.Spent {
            return .tooLong
        }
    }

    /// Whether a body has to be searched in pieces, and was not before.
    private func isTooLong(_ body: LooseBody?, _ headers: HeaderFields) -> Bool {
        guard let body, case .spool(let spool) = body.place, spool.size > Self.memoryLimit else { return false }
        return !self.searched.contains(SearchedBodies.Key(body, headers), at: self.redactor.vault.generation)
    }

    /// Throws `SearchBudget.Spent` where it was to end early: the bodies are as they were then.
    func redact(_ interaction: inout Interaction, request: inout LooseBody?, response: inout LooseBody?) throws -> Outcome {
        let known = self.redactor.vault.generation
        let keys = (
            request: request.flatMap { SearchedBodies.Key($0, interaction.request.headers) },
            response: response.flatMap { SearchedBodies.Key($0, interaction.response?.headers ?? HeaderFields()) }
        )
        let isKnown = (
            request: self.searched.contains(keys.request, at: known), response: self.searched.contains(keys.response, at: known)
        )
        var outcome = try self.redact(&interaction, request: &request, response: &response, skipping: isKnown)
        guard self.redactor.vault.generation == known else {
            guard isKnown.request || isKnown.response else { return outcome }
            // The heads have taught something that a body may hold in which there was nothing before.
            let again = try self.redact(&interaction, request: &request, response: &response, skipping: (false, false))
            outcome.request.add(again.request)
            outcome.response.add(again.response)
            request?.note = outcome.request.note
            response?.note = outcome.response.note
            return outcome
        }
        if !isKnown.request, !outcome.request.isBodyChanged, outcome.request.notes.isEmpty { self.searched.insert(keys.request, at: known) }
        if !isKnown.response, !outcome.response.isBodyChanged, outcome.response.notes.isEmpty {
            self.searched.insert(keys.response, at: known)
        }
        return outcome
    }

    private func redact(
        _ interaction: inout Interaction, request: inout LooseBody?, response: inout LooseBody?, skipping: (request: Bool, response: Bool)
    ) throws -> Outcome {
        let requestHeaders = interaction.request.headers
        let responseHeaders = interaction.response?.headers ?? HeaderFields()
        var requestWire = skipping.request ? nil : try request?.wire(upTo: Self.memoryLimit)
        var responseWire = skipping.response ? nil : try response?.wire(upTo: Self.memoryLimit)
        var outcome = self.redactor.redact(&interaction, requestBody: &requestWire, responseBody: &responseWire)

        try self.checkBudget()
        let known = self.redactor.vault.learned
        if requestWire == nil, !skipping.request {
            var (fields, trailers) = (interaction.request.headers, interaction.request.trailers)
            try self.redact(&request, requestHeaders, &fields, &trailers, &outcome.request)
            (interaction.request.headers, interaction.request.trailers) = (fields, trailers)
        }
        if responseWire == nil, !skipping.response, var message = interaction.response {
            try self.redact(&response, responseHeaders, &message.headers, &message.trailers, &outcome.response)
            interaction.response = message
        }
        if self.redactor.vault.learned != known {
            // A large body has taught something that may stand in the heads and in the other body.
            let again = self.redactor.redact(&interaction, requestBody: &requestWire, responseBody: &responseWire)
            outcome.request.add(again.request)
            outcome.response.add(again.response)
        }
        try self.checkBudget()
        if outcome.request.isBodyChanged, let requestWire { request?.take(requestWire) }
        if outcome.response.isBodyChanged, let responseWire { response?.take(responseWire) }
        request?.note = outcome.request.note
        response?.note = outcome.response.note
        return outcome
    }

    /// What was found with a budget that is spent is worth nothing.
    private func checkBudget() throws(SearchBudget.Spent) {
        if self.redactor.isSpent { throw SearchBudget.Spent() }
    }

    /// A body in a file; `headers` are those it came with, `fields` and `trailers` those that have to fit it.
    private func redact(
        _ body: inout LooseBody?, _ headers: HeaderFields, _ fields: inout HeaderFields, _ trailers: inout HeaderFields?,
        _ outcome: inout RedactionOutcome
    ) throws {
        guard var large = body, case .spool(let spool) = large.place else { return }
        var fresh: OpenSpool?
        let done = try self.redactor.redact(spool.source, headers: headers, isComplete: large.isComplete) { piece in
            let target = try fresh ?? OpenSpool(self.store.makeSpool(), digest: self.digest())
            try target.write(piece)
            fresh = target
        }
        outcome.add(done)
        let lines = self.redactor.redact(&large.arrival)
        if lines > 0 {
            outcome.count += lines
            outcome.isBodyChanged = true
            body = large
        }
        guard done.isBodyChanged else { return }
        let redacted = try fresh ?? OpenSpool(self.store.makeSpool(), digest: self.digest())
        try self.redactor.fit(&fields, &trailers, arrival: &large.arrival, from: spool.source, to: redacted.source, outcome: &outcome)
        large.place = .spool(redacted)
        body = large
    }
}

/// Bodies that were searched for secrets and held none: what a program asks for again and again is taken out of its codings and searched
/// once, as long as no further secret becomes known.
///
/// Not Sendable: each thread that searches has its own.
final class SearchedBodies {
    /// What a search depends on.
    struct Key: Hashable {
        private enum Content: Equatable {
            /// Compared as they are, which is faster than any digest of them.
            case octets([UInt8])
            case digest([UInt8])

            static func == (left: Content, right: Content) -> Bool {
                switch (left, right) {
                case (.octets(let left), .octets(let right)), (.digest(let left), .digest(let right)):
                    left.count == right.count
                        && left.withUnsafeBytes { left in
                            right.withUnsafeBytes { right in
                                // Empty arrays have no addresses.
                                guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else { return true }
                                return memcmp(leftStart, rightStart, left.count) == 0
                            }
                        }
                default: false
                }
            }
        }

        private let content: Content
        private let types: [String]
        private let codings: [String]
        private let isComplete: Bool

        /// Nil for a body that is searched as fast as it is compared, or has more to be searched than its octets.
        init?(_ body: LooseBody, _ headers: HeaderFields) {
            // What stands behind the sizes of its chunks is no part of its octets, and may be another each time.
            guard body.arrival?.lastLine == nil, body.arrival?.pieces.contains(where: { $0.line != nil }) != true else { return nil }
            switch body.place {
            case .memory(let octets):
                // What is behind a coding may be any number of times longer.
                guard octets.count >= SearchedBodies.smallest || headers.contains("content-encoding") else { return nil }
                self.content = .octets(octets)
            case .spool(let spool):
                self.content = .digest(spool.sha256())
            }
            self.types = headers.values("content-type")
            self.codings = headers.values("content-encoding")
            self.isComplete = body.isComplete
            guard (self.types + self.codings).reduce(0, { $0 + $1.utf8.count }) <= SearchedBodies.valueLimit else { return nil }
        }

        /// Octets held.
        var weight: Int {
            switch self.content {
            case .octets(let octets), .digest(let octets): octets.count
            }
        }

        /// Of octets, where kinds of bodies differ: their end, with the checksum of a gzip body, and their number.
        func hash(into hasher: inout Hasher) {
            switch self.content {
            case .octets(let octets), .digest(let octets):
                hasher.combine(octets.count)
                octets.suffix(64).withUnsafeBytes { hasher.combine(bytes: $0) }
            }
        }
    }

    static let smallest = 4 << 10
    /// Octets of the fields in a key.
    private static let valueLimit = 1024
    /// Bodies remembered: beyond that all are forgotten.
    static let limit = 4096
    /// Octets of them.
    static let octetLimit = 4 << 20

    private var known: Set<Key> = []
    private var octets = 0
    private var generation = 0

    /// - Parameter generation: of the vault; what was found clean knowing less counts no more.
    func contains(_ key: Key?, at generation: Int) -> Bool {
        guard let key, generation == self.generation else { return false }
        return self.known.contains(key)
    }

    func insert(_ key: Key?, at generation: Int) {
        guard let key else { return }
        if generation != self.generation || self.known.count >= Self.limit || self.octets + key.weight > Self.octetLimit {
            self.known = []
            self.octets = 0
        }
        self.generation = generation
        if self.known.insert(key).inserted { self.octets += key.weight }
    }
}
