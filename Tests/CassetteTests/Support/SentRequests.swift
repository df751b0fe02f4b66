@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteRedaction
@testable import CassetteStore
@testable import TapeBytes

/// Recorded requests as they were sent, without a file: their bodies are read as a cassette's are.
struct SentRequests: RequestSource {
    struct Request: Sendable {
        var method = "POST"
        var url = "http://a.test/"
        var lines: [String] = []
        var body = ""
    }

    let requests: [Request]

    func session(rules: MatchRules = .standard) -> CassetteSession {
        var keys = RecordedKeys()
        for request in self.requests {
            rules.withHeadKey(method: request.method, url: request.url, headers: HeaderFields(request.lines)) {
                keys.append($0, mayHaveBody: !request.body.isEmpty)
            }
        }
        return CassetteSession(mode: .none, keys: keys, hasCassette: true, rules: rules, source: self)
    }

    func conversation(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> RecordedConversation? { nil }

    func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        let request = self.requests[index]
        return ComparedRequest(
            method: request.method, url: request.url, headers: HeaderFields(request.lines),
            facets: MatchFixture.live(request.body, request.lines, rules, url: request.url), isComplete: true)
    }
}

extension CassetteSession {
    /// What a request gets once all of it has come.
    func send(_ request: SentRequests.Request) throws -> Decision {
        let fields = HeaderFields(request.lines)
        switch self.begin(method: request.method, url: request.url, headers: fields, hasBody: !request.body.isEmpty) {
        case .decided(let decision): return decision
        case .needsBody(let pending):
            var body = pending.body()
            Array(request.body.utf8).withUnsafeBytes { body.push($0) }
            return try self.resolve(pending, body: body.finish())
        }
    }
}
