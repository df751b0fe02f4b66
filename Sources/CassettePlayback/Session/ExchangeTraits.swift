internal import CassetteModel
internal import TapeBytes

/// The traits of a recorded exchange by which it is chosen among exchanges whose method, URL and body are equal.
struct ExchangeTraits: Sendable {
    var profile: RequestProfile
    /// Nil if there was no response.
    var status: Int?
    var kind: AnswerKind
    /// Equal for exchanges with the same answer.
    var answer: UInt64
    /// The validators against which a request's preconditions are evaluated.
    var validators: AnswerValidators
    /// The recorded client left before the end of an answer that it wanted.
    var isLeft: Bool
    var span: ExchangeSpan
    /// The source for computed ranges; nil if none can be computed.
    var ranges: RangeFacts?
    /// What the exchange requires beyond its key.
    var demands: ExchangeDemands
    /// The hashes of its own values (`OwnValues`).
    var own: Set<UInt64>
    /// The names of the fields by which the answer may vary: selecting fields, and those in a recorded `Vary`.
    var names: [UInt64: String]

    /// - Parameters:
    ///   - body: the facets of the request's body.
    ///   - login: nil if nobody logged in on a connection of the recording.
    ///   - hasStubs: whether the cassette has stubs, so that its keys contain no queries.
    ///   - stubBody: the body of a stub that compares it in its own way.
    init(
        _ interaction: Interaction, rules: MatchRules, body: BodyFacets, login: ConnectionLogin? = nil, hasStubs: Bool = false,
        stubBody: StubDemands.BodyDemand? = nil
    ) {
        let request = interaction.request
        let response = interaction.response
        let varying = Set(response.map { RequestFieldNames.varying(in: $0.headers) } ?? [])
        var names: [UInt64: String] = [:]
        self.profile = RequestProfile(
            request.headers, rules: rules,
            placeholders: HeldPlaceholders(login ?? .unknown)
                + HeldPlaceholders(url: request.url, headers: request.headers, isRecorded: true) + body.placeholders, url: request.url
        ) { name, hash in
            if varying.contains(name) || RequestFieldNames.role(of: name) == .selecting { names[hash] = name }
        }
        self.profile.repeatedItems &+= body.repeatedItems
        self.own = OwnValues.hashes(url: request.url, body.exempt, rules)
        self.demands =
            if !hasStubs {
                .none
            } else if let stub = interaction.stub {
                ExchangeDemands(stub, request, rules, body: stubBody)
            } else {
                rules.withHeadKey(
                    method: request.method, url: request.url, headers: rules.looksAtHeaders ? request.headers : nil
                ) { .ofWhole(Array($0)) }
            }
        // A field that the recorded request lacks can also make a difference.
        for name in varying where !rules.ignoresField(name) { names[RequestProfile.hash(name)] = name }
        self.names = names
        self.status = response?.status
        self.kind = AnswerKind(interaction)
        self.ranges = RangeFacts(interaction)
        self.span = ExchangeSpan(interaction)
        self.validators = AnswerValidators(interaction)
        // A client that has seen the status of a refusal or a redirection often goes on without the rest: it retries, or follows.
        self.isLeft = interaction.wasLeftByClient && (response.map { $0.status < 300 } ?? true)
        self.answer = Self.answer(response, interaction.webSocket, isHead: request.method == "HEAD")
    }

    /// A hash of everything that distinguishes answers: their status, their body, and the fields that describe it. If there is no body, all
    /// fields are included except those that change with each answer. The answer of a WebSocket includes the messages of its server.
    private static func answer(_ response: RecordedResponse?, _ messages: WebSocketMessages?, isHead: Bool) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(response?.status)
        guard let response else { return UInt64(truncatingIfNeeded: hasher.finalize()) }
        hasher.combine(response.body?.content)
        switch messages {
        case .inline(let messages)?: for message in messages where message.from == .server { hasher.combine(message.content) }
        case .file(let sidecar, _)?: hasher.combine(sidecar.sha256)
        case nil: break
        }
        let hasBody = response.body.map { $0.size > 0 } ?? false
        var sum = 0
        for index in 0..<response.headers.count {
            let name = response.headers.name(at: index).lowercased()
            guard AnswerFieldNames.tells(name, hasBody: hasBody, isHead: isHead) else { continue }
            var field = Hasher()
            field.combine(name)
            field.combine(response.headers.value(at: index))
            sum &+= field.finalize()
        }
        hasher.combine(sum)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

/// The names of the response header fields that distinguish answers.
private enum AnswerFieldNames {
    static func tells(_ name: String, hasBody: Bool, isHead: Bool) -> Bool {
        if self.telling.contains(name) { return true }
        if name == "content-length" || name == "last-modified" { return isHead }
        guard !hasBody, !self.volatile.contains(name) else { return false }
        return switch RequestFieldNames.role(of: name) {
        case .selecting, .other: true
        case .neverDecides, .ignored: false
        }
    }

    private static let telling: Set<String> = [
        "etag", "content-type", "content-language", "content-location", "content-range", "content-disposition", "location",
        "preference-applied", "upload-offset", "upload-length", "range", "allow", "dav", "lock-token", "memento-datetime", "link",
        "x-amz-version-id", "x-goog-generation", "x-total-count", "im", "tcn", "icy-name",
    ]

    private static let volatile: Set<String> = [
        "server", "set-cookie", "age", "expires", "retry-after", "server-timing", "alt-svc", "nel", "report-to", "reporting-endpoints",
        "x-runtime", "x-response-time", "x-cache", "x-cache-hits", "x-served-by", "x-timer", "cf-ray", "cf-cache-status", "x-amz-id-2",
        "x-amz-cf-id", "x-amz-cf-pop", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-used", "ratelimit", "ratelimit-remaining",
        "ratelimit-reset", "vary", "www-authenticate", "authentication-info", "content-security-policy",
    ]
}
