internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// Redacts one exchange and its bodies, in memory or in files, before the bodies are decoded.
///
/// Not Sendable: lives on the recorder thread, or on the thread of a `PostponedSearch`.
struct ExchangeRedaction {
    /// What was done to both messages.
    typealias Outcome = (request: RedactionOutcome, response: RedactionOutcome)

    /// The largest body, in bytes, that is redacted in memory, where rules for places in JSON apply. A larger one is redacted in pieces.
    static let memoryLimit = 4 << 20

    /// Bytes of content that are searched while other exchanges wait, and units of work on them: about 40 ms each. Longer or more complex
    /// bodies are searched on another thread.
    static let contentAtOnce = 8 << 20
    /// Bytes of a text that are searched without a budget, because any content of that size is cheap to search.
    static let textAtOnce = 16 << 10

    private(set) var redactor: Redactor
    private let store: BodyStore
    private let digest: @Sendable () -> any ContentDigest
    private var searched = SearchedBodies()

    init(redactor: Redactor, store: BodyStore, digest: @escaping @Sendable () -> any ContentDigest) {
        self.redactor = redactor
        self.store = store
        self.digest = digest
    }

    /// A copy for another thread, with its own record of searched bodies.
    func forAnotherThread() -> ExchangeRedaction {
        var other = self
        other.redactor = self.redactor.sharingSecrets()
        other.searched = SearchedBodies()
        return other
    }

    /// A copy whose searches throw `SearchBudget.Spent` when the budget is spent.
    func within(_ budget: SearchBudget) -> ExchangeRedaction {
        var other = self
        other.redactor = self.redactor.within(budget)
        return other
    }

    /// Accepts another thread's finding that bodies contain no secret, if nothing has been learned since.
    func trust(_ clean: CleanBodies) {
        guard clean.generation == self.redactor.vault.generation else { return }
        for key in clean.keys { self.searched.insert(key, at: clean.generation) }
    }

    /// The budget for a search while others wait.
    static func budgetAtOnce() -> SearchBudget {
        SearchBudget(bytes: Self.contentAtOnce, ratio: SearchBudget.ratio, work: Self.contentAtOnce)
    }

    /// The result of a search that must not take long.
    enum Attempt: Equatable {
        /// The exchange is redacted. Dense: the search cost so much more than the bodies' sizes that many such searches in a row also take
        /// too long.
        case redacted(isDense: Bool)
        /// The search takes too long while others wait. The exchange is unchanged.
        case tooLong
    }

    /// Redacts the exchange if that can be done while others wait.
    func redactAtOnce(_ exchange: inout CapturedExchange) throws -> Attempt {
        guard !self.isTooLong(exchange.request, exchange.interaction.request.headers, exchange.interaction.request),
            !self.isTooLong(exchange.response, exchange.interaction.response?.headers ?? HeaderFields(), exchange.interaction.request)
        else { return .tooLong }
        guard exchange.mayTakeLong else {
            _ = try self.redact(&exchange.interaction, request: &exchange.request, response: &exchange.response)
            return .redacted(isDense: false)
        }
        var copy = exchange
        do {
            let budget = Self.budgetAtOnce()
            _ = try self.within(budget).redact(&copy.interaction, request: &copy.request, response: &copy.response)
            exchange = copy
            return .redacted(isDense: budget.isDense)
        } catch is SearchBudget.Spent {
            return .tooLong
        }
    }

    /// Whether a body has to be searched in pieces and is not known to be clean.
    private func isTooLong(_ body: CapturedBody?, _ headers: HeaderFields, _ request: RecordedRequest) -> Bool {
        guard let body, case .spool(let spool) = body.place, spool.size > Self.memoryLimit else { return false }
        return !self.searched.contains(self.key(body, headers, request), at: self.redactor.vault.generation)
    }

    private func key(_ body: CapturedBody, _ headers: HeaderFields, _ request: RecordedRequest) -> SearchedBodies.Key? {
        SearchedBodies.Key(body, headers, method: self.redactor.schema == nil ? nil : request.url)
    }

    /// Throws `SearchBudget.Spent` if the budget is spent. The bodies are then unchanged.
    func redact(_ interaction: inout Interaction, request: inout CapturedBody?, response: inout CapturedBody?) throws -> Outcome {
        let known = self.redactor.vault.generation
        let keys = (
            request: request.flatMap { self.key($0, interaction.request.headers, interaction.request) },
            response: response.flatMap { self.key($0, interaction.response?.headers ?? HeaderFields(), interaction.request) }
        )
        let isKnown = (
            request: self.searched.contains(keys.request, at: known), response: self.searched.contains(keys.response, at: known)
        )
        var outcome = try self.redact(&interaction, request: &request, response: &response, skipping: isKnown)
        guard self.redactor.vault.generation == known else {
            guard isKnown.request || isKnown.response else { return outcome }
            // The heads contain a new secret, which may also be in a body known to be clean.
            let again = try self.redact(&interaction, request: &request, response: &response, skipping: (false, false))
            outcome.request.add(again.request)
            outcome.response.add(again.response)
            request?.note = outcome.request.note
            response?.note = outcome.response.note
            return outcome
        }
        if !isKnown.request, outcome.request.holdsNothing { self.searched.insert(keys.request, at: known) }
        if !isKnown.response, outcome.response.holdsNothing { self.searched.insert(keys.response, at: known) }
        return outcome
    }

    private func redact(
        _ interaction: inout Interaction, request: inout CapturedBody?, response: inout CapturedBody?,
        skipping: (request: Bool, response: Bool)
    ) throws -> Outcome {
        let types = self.redactor.schema?.types(ofURL: interaction.request.url)
        let requestHeaders = interaction.request.headers
        let responseHeaders = interaction.response?.headers ?? HeaderFields()
        var requestWire = skipping.request ? nil : try request?.wire(upTo: Self.memoryLimit)
        var responseWire = skipping.response ? nil : try response?.wire(upTo: Self.memoryLimit)
        var outcome = self.redactor.redact(&interaction, requestBody: &requestWire, responseBody: &responseWire)

        try self.checkBudget()
        let known = self.redactor.vault.learned
        if requestWire == nil, !skipping.request {
            var (fields, trailers) = (interaction.request.headers, interaction.request.trailers)
            let schema = GRPCSchema(interaction.request.body, types?.request)
            try self.redact(&request, of: interaction.request, requestHeaders, schema, &fields, &trailers, &outcome.request)
            (interaction.request.headers, interaction.request.trailers) = (fields, trailers)
        }
        if responseWire == nil, !skipping.response, var message = interaction.response {
            let schema = GRPCSchema(message.body, types?.response)
            try self.redact(
                &response, of: interaction.request, responseHeaders, schema, &message.headers, &message.trailers, &outcome.response)
            interaction.response = message
        }
        if self.redactor.vault.learned != known {
            // A large body contains a new secret, which may also be in the heads and in the other body.
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

    /// The result of a search is incomplete if the budget is spent.
    private func checkBudget() throws(SearchBudget.Spent) {
        if self.redactor.isSpent { throw SearchBudget.Spent() }
    }

    /// Redacts a body in a file. `headers` are the original ones; `fields` and `trailers` are adapted to the new body.
    private func redact(
        _ body: inout CapturedBody?, of request: RecordedRequest, _ headers: HeaderFields, _ schema: GRPCSchema,
        _ fields: inout HeaderFields,
        _ trailers: inout HeaderFields?, _ outcome: inout RedactionOutcome
    ) throws {
        guard var large = body, case .spool(let spool) = large.place else { return }
        var fresh: OpenSpool?
        let done = try self.redactor.redact(spool.source, headers: headers, isComplete: large.isComplete, messages: schema) { piece in
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
        try self.redactor.noteDigests(of: spool.source, becoming: redacted.source, request: request)
        large.place = .spool(redacted)
        body = large
    }
}

/// Bodies that were searched and contained no secrets. A repeated body is decoded and searched only once, until another secret becomes
/// known.
///
/// Not Sendable: each searching thread has its own.
final class SearchedBodies {
    /// Everything that a search depends on.
    struct Key: Hashable, Sendable {
        private enum Content: Equatable, Sendable {
            /// Compared directly, which is faster than any digest.
            case bytes([UInt8])
            case digest([UInt8])

            static func == (left: Content, right: Content) -> Bool {
                switch (left, right) {
                case (.bytes(let left), .bytes(let right)), (.digest(let left), .digest(let right)):
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

        /// nil for a body that can be searched as fast as it is compared, or that has more to search than its bytes.
        ///
        /// - Parameter method: the gRPC method, if it determines the names of message fields.
        init?(_ body: CapturedBody, _ headers: HeaderFields, method: String? = nil) {
            // Chunk extensions are not part of its bytes, and may differ each time.
            guard body.arrival?.lastLine == nil, body.arrival?.pieces.contains(where: { $0.line != nil }) != true else { return nil }
            switch body.place {
            case .memory(let bytes):
                // A decoded body may be many times longer.
                guard bytes.count >= SearchedBodies.smallest || headers.hasCodings else { return nil }
                self.content = .bytes(bytes)
            case .spool(let spool):
                self.content = .digest(spool.sha256())
            }
            self.types = headers.values("content-type") + (GRPCType(headers) == nil ? [] : [method].compactMap { $0 })
            self.codings = headers.values("content-encoding") + headers.values("grpc-encoding").map { "grpc \($0)" }
            self.isComplete = body.isComplete
            guard (self.types + self.codings).reduce(0, { $0 + $1.utf8.count }) <= SearchedBodies.valueLimit else { return nil }
        }

        /// Bytes held.
        var weight: Int {
            switch self.content {
            case .bytes(let bytes), .digest(let bytes): bytes.count
            }
        }

        /// Hashes the count and the last bytes, where similar bodies differ: a gzip body ends with a checksum.
        func hash(into hasher: inout Hasher) {
            switch self.content {
            case .bytes(let bytes), .digest(let bytes):
                hasher.combine(bytes.count)
                bytes.suffix(64).withUnsafeBytes { hasher.combine(bytes: $0) }
            }
        }
    }

    static let smallest = 4 << 10
    /// The most bytes of fields in a key.
    private static let valueLimit = 1024
    /// The most bodies remembered. Beyond that, all are forgotten.
    static let limit = 4096
    /// The most bytes of them.
    static let byteLimit = 4 << 20

    private var known: Set<Key> = []
    private var byteCount = 0
    private var generation = 0

    /// - Parameter generation: the vault's generation. Results of an earlier one do not count any more.
    func contains(_ key: Key?, at generation: Int) -> Bool {
        guard let key, generation == self.generation else { return false }
        return self.known.contains(key)
    }

    func insert(_ key: Key?, at generation: Int) {
        guard let key else { return }
        if generation != self.generation || self.known.count >= Self.limit || self.byteCount + key.weight > Self.byteLimit {
            self.known = []
            self.byteCount = 0
        }
        self.generation = generation
        if self.known.insert(key).inserted { self.byteCount += key.weight }
    }
}
