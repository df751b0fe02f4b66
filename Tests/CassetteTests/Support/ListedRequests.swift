@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import CassetteStore
@testable import TapeBytes

/// Recorded requests without a file: bodies are equal if their texts are.
final class ListedRequests: RequestSource {
    struct Request: Sendable {
        var method = "POST"
        var url = "http://a.test/"
        /// Nil without a body.
        var body: String?
        var isComplete = true
        /// A body with a mark, which matches any body.
        var hasMark = false
    }

    let requests: [Request]
    /// The request whose body cannot be read.
    let unreadable: Int?
    /// The number of body reads.
    let reads = Guarded(0)

    init(_ requests: [Request], unreadable: Int? = nil) {
        self.requests = requests
        self.unreadable = unreadable
    }

    /// POST requests to one URL.
    convenience init(bodies: [String?]) {
        self.init(bodies.map { Request(body: $0) })
    }

    var keys: RecordedKeys { self.keys(.standard) }

    func keys(_ rules: MatchRules) -> RecordedKeys {
        var keys = RecordedKeys()
        for request in self.requests {
            rules.withHeadKey(method: request.method, url: request.url, headers: nil) {
                keys.append($0, mayHaveBody: request.body != nil, isTunnel: request.method == "CONNECT")
            }
        }
        return keys
    }

    func session(
        _ mode: RecordMode = .none, rules: MatchRules = .standard, repetition: Repetition = .never, order: ReplayOrder = .any
    ) -> CassetteSession {
        CassetteSession(
            mode: mode, keys: self.keys(rules), hasCassette: true, rules: rules, repetition: repetition, order: order, source: self)
    }

    func conversation(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> RecordedConversation? { nil }

    func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        self.reads.withLock { $0 += 1 }
        guard index != self.unreadable else { throw CassetteError(.unreadable, "the body cannot be read") }
        let request = self.requests[index]
        var facets = Self.facets(request.body)
        facets.hasMarks = request.hasMark
        return ComparedRequest(
            method: request.method, url: request.url, headers: HeaderFields(), facets: facets, isComplete: request.isComplete,
            traits: ExchangeTraits(
                Interaction(
                    id: index + 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: request.method, url: request.url),
                    response: RecordedResponse(status: 200)),
                rules: rules, body: .none))
    }

    static func facets(_ body: String?) -> BodyFacets {
        guard let body, !body.isEmpty else { return .none }
        var hasher = Hasher()
        hasher.combine(body)
        var facets = BodyFacets.none
        facets.kind = .text
        facets.count = 1
        facets.sum = UInt64(truncatingIfNeeded: hasher.finalize())
        return facets
    }
}

extension CassetteSession {
    /// The decision for a request with a complete body.
    func ask(_ method: String = "POST", _ url: String = "http://a.test/", body: String?) throws -> Decision {
        switch self.begin(method: method, url: url, hasBody: body != nil) {
        case .decided(let decision): decision
        case .needsBody(let pending): try self.resolve(pending, body: ListedRequests.facets(body))
        }
    }
}
