@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import CassetteStore
@testable import TapeBytes

/// Recorded requests as they were sent, without a file: their bodies are read like a cassette's.
struct SentRequests: RequestSource {
    struct Request: Sendable {
        var method = "POST"
        var url = "http://a.test/"
        var lines: [String] = []
        var body = ""
        /// Used instead of the text.
        var binary: [UInt8] = []
        var sent: [UInt8] { self.binary.isEmpty ? Array(self.body.utf8) : self.binary }
        var status = 200
        var answerLines: [String] = []
        /// The text of the answer.
        var answer = ""
        var outcome = Outcome.complete
        /// In milliseconds since 1970.
        var started = 0
        /// In milliseconds.
        var total: Double?

        var interaction: Interaction {
            Interaction(
                id: 1, started: Timestamp(microseconds: Int64(self.started) * 1000),
                request: RecordedRequest(method: self.method, url: self.url, headers: HeaderFields(self.lines)),
                response: RecordedResponse(
                    status: self.status, headers: HeaderFields(self.answerLines),
                    body: Body(size: self.answer.utf8.count, content: .text(Array(self.answer.utf8)))),
                outcome: self.outcome, timing: Timing(total: self.total))
        }
    }

    let requests: [Request]

    func session(
        rules: MatchRules = .standard, repetition: Repetition = .never, order: ReplayOrder = .any, ranges: RangeReplay = .computed,
        redaction: LiveRedactor? = nil, keepsLeft: Bool = false
    ) -> CassetteSession {
        var keys = RecordedKeys()
        for request in self.requests {
            rules.withHeadKey(method: request.method, url: request.url, headers: HeaderFields(request.lines)) {
                keys.append(
                    $0, mayHaveBody: !request.sent.isEmpty,
                    isBound: AnswerKind(status: request.status).isBound || DecidingFields.areIn(HeaderFields(request.lines)))
            }
        }
        return CassetteSession(
            mode: .none, keys: keys, hasCassette: true, rules: rules, repetition: repetition, order: order, ranges: ranges,
            redaction: redaction, keepsLeft: keepsLeft, source: self)
    }

    func comparedFields(at index: Int) -> UInt64 { RequestFieldNames.comparedFields(HeaderFields(self.requests[index].lines)) }

    func conversation(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> RecordedConversation? { nil }

    func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        let request = self.requests[index]
        var facets = MatchFixture.live(request.sent, request.lines, rules, url: request.url)
        // A cassette holds the decoded text of a coded body.
        facets.placeholders = (request.sent + Array(request.body.utf8)).withUnsafeBytes { HeldPlaceholders(in: $0, isRecorded: true) }
        return ComparedRequest(
            method: request.method, url: request.url, headers: HeaderFields(request.lines), facets: facets, isComplete: true,
            traits: ExchangeTraits(request.interaction, rules: rules, body: facets))
    }
}

extension CassetteSession {
    /// The decision for a request that has arrived completely.
    func send(_ request: SentRequests.Request) throws -> Decision {
        let fields = HeaderFields(request.lines)
        switch self.begin(method: request.method, url: request.url, headers: fields, hasBody: !request.sent.isEmpty) {
        case .decided(let decision): return decision
        case .needsBody(let pending):
            var body = pending.body()
            request.sent.withUnsafeBytes { body.push($0) }
            return try self.resolve(pending, body: body.finish())
        }
    }
}

extension Decision {
    /// The index of the answering exchange, however its answer is computed; nil for any other decision.
    var replayed: Int? { if case .replay(let index, _) = self { index } else { nil } }
}
