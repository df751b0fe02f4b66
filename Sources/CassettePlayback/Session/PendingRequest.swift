internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The decision of a session on a request whose head has arrived.
public enum Opening: Sendable {
    /// The body cannot change this decision.
    case decided(Decision)
    /// The decision depends on the body: feed it to the pending request's `body`, then call `CassetteSession.decide`.
    case needsBody(PendingRequest)
}

/// A request whose head has arrived, and whose body decides which exchange answers it.
///
/// Has no exchange assigned: a request that is abandoned before its body's end has consumed nothing. Any thread may use it.
public final class PendingRequest: Sendable {
    public let method: String
    /// Redacted, as the cassette would contain it.
    public let url: String
    /// As they arrived, for the body.
    let headers: HeaderFields
    /// Redacted, as the cassette would contain them.
    let comparedHeaders: HeaderFields
    private let redaction: LiveRedactor?
    let rules: MatchRules
    /// The session that the request began in.
    let session: CassetteSession
    /// The parts of the head that are compared.
    let head: [UInt8]
    /// The recorded requests with an equal head. Nil if there are none; then the body is needed only for the refusal.
    let key: Int?
    /// The header fields in compared form, and the placeholders in the head.
    let fields: LiveFields
    private let digest: @Sendable () -> any ContentDigest
    /// The results of reading the cassette for this request.
    let findings = Guarded(PendingFindings())

    init(
        session: CassetteSession, method: String, url: String, headers: HeaderFields, comparedHeaders: HeaderFields, rules: MatchRules,
        redaction: LiveRedactor?,
        head: [UInt8], key: Int?, fields: LiveFields, digest: @escaping @Sendable () -> any ContentDigest
    ) {
        self.session = session
        self.method = method
        self.url = url
        self.headers = headers
        self.comparedHeaders = comparedHeaders
        self.redaction = redaction
        self.rules = rules
        self.head = head
        self.key = key
        self.fields = fields
        self.digest = digest
    }

    /// For the messages of a conversation.
    var messageRedaction: LiveRedactor? { self.redaction }
    var messageDigest: @Sendable () -> any ContentDigest { self.digest }

    var isPreflight: Bool { Preflight.isAsked(method: self.method, self.headers) }

    /// Whether a recorded request has the same head. If not, the body is needed only to explain a refusal.
    public var hasEqualHead: Bool { self.key != nil }

    /// Takes the body's wire bytes as they arrive. Its `finish` returns the facets for `CassetteSession.decide`. If there is no body,
    /// finish it at once.
    public func body() -> PendingBody {
        PendingBody(rules: self.rules, headers: self.headers, url: self.url, redaction: self.redaction, digest: self.digest)
    }

    /// The fields, with what the body adds to them: its placeholders, and the order of its repeated items.
    func live(_ body: BodyFacets) -> LiveFields {
        guard !body.placeholders.isEmpty || body.repeatedItems != 0 || body.content != nil || !body.exempt.isEmpty else {
            return self.fields
        }
        var fields = self.fields
        fields.content = body.content
        fields.profile.repeatedItems &+= body.repeatedItems
        fields.placeholders += body.placeholders
        fields.own.formUnion(OwnValues.hashes(url: "", body.exempt, self.rules))
        return fields
    }

    /// The client's own values that the answer may repeat.
    func echo(_ body: BodyFacets) -> AnswerEcho? {
        AnswerEcho(url: self.url, headers: self.comparedHeaders, values: body.exempt, rules: self.rules, redaction: self.redaction)
    }

    func matched(_ body: BodyFacets) -> MatchedRequest {
        MatchedRequest(method: self.method, url: self.url, headers: self.comparedHeaders, body: body)
    }
}

/// The body of a pending request, as it arrives.
///
/// With redaction, the body is held in memory up to a limit, because secrets are detected in the whole body. A larger one is compared as it
/// arrived.
public struct PendingBody: ~Copyable {
    /// The most bytes held for redaction: the same limit as for bodies that are parsed for comparison.
    static let redactionLimit = BodyFacets.memoryLimit

    private var builder: BodyFacetBuilder
    /// Header fields that tell how to redact the body.
    private let headers: HeaderFields
    /// The message type of a gRPC body, from the rules' schema.
    private let messages: ProtoType?
    /// Nil once redaction no longer applies.
    private var redaction: LiveRedactor?
    private let isRecorded: Bool
    private var held: [UInt8] = []

    /// - Parameters:
    ///   - redactedAs: nil if the body is redacted with the same fields as it is compared.
    ///   - isRecorded: whether it is the body of a recorded request.
    init(
        rules: MatchRules, headers: HeaderFields, redactedAs: HeaderFields? = nil, url: String, redaction: LiveRedactor?,
        isRecorded: Bool = false, digest: @escaping () -> any ContentDigest
    ) {
        self.isRecorded = isRecorded
        self.builder = BodyFacetBuilder(rules: rules, headers: headers, url: url, digest: digest)
        self.headers = redactedAs ?? headers
        self.messages = rules.schema?.types(ofURL: url)?.request
        self.redaction = redaction
    }

    /// The next wire bytes, after transfer decoding.
    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        guard self.redaction != nil else { return self.builder.push(bytes) }
        self.held.append(contentsOf: bytes)
        if self.held.count > Self.redactionLimit { self.releaseHeld() }
    }

    private mutating func releaseHeld() {
        self.redaction = nil
        self.held.withUnsafeBytes { self.builder.push($0) }
        self.held = []
    }

    /// Ends the body and returns its facets.
    public consuming func finish() -> BodyFacets {
        var placeholders = HeldPlaceholders()
        if let redaction = self.redaction, !self.held.isEmpty {
            placeholders = (self.content() ?? self.held).withUnsafeBytes { HeldPlaceholders(in: $0, isRecorded: self.isRecorded) }
            self.held = redaction.redacted(body: self.held, headers: self.headers, messages: self.messages) ?? self.held
        }
        self.releaseHeld()
        var facets = self.builder.finish()
        facets.placeholders = placeholders
        return facets
    }

    /// The held bytes without their content codings; nil if there are none, or if they cannot be decoded.
    private func content() -> [UInt8]? {
        guard case .coded(let names) = ContentEncoding(self.headers),
            let chain = DecoderChain(names, limits: InflateLimits(output: Self.redactionLimit))
        else { return nil }
        var content: [UInt8] = []
        // Nothing is thrown without a meter.
        let isWhole = try? self.held.withUnsafeBytes { held in try chain.push(held) { content.append(contentsOf: $0) } && chain.finish() }
        return isWhole == true ? content : nil
    }
}

/// What the cassette contains about one pending request, beyond the groups of equal bodies that all requests share.
struct PendingFindings: Sendable {
    /// Exchanges that match in spite of other facets, or by a custom rule, ascending. Nil before they were searched for.
    var others: [Int]?
    /// The nearest bodies among the recorded requests with an equal head; nil before they were searched for.
    var nearest: [NearBody]?
    /// The nearest requests if no recorded one has an equal head; nil before they were searched for.
    var heads: [NearHead]?
    /// Whether an exchange with an equal body is left that does not answer the request, so that the nearest bodies explain the miss.
    var isExplained = false
}

/// A recorded request with an equal head and a different body.
struct NearBody: Sendable, Hashable {
    /// In order of request start from 0.
    var index: Int
    /// Never empty.
    var differences: [RequestDifference]
}

/// A recorded request whose head is similar to that of a missed request.
struct NearHead: Sendable, Hashable {
    var key: Int
    /// The nearest exchange with the key, in order of request start from 0.
    var index: Int
    /// Differences of the head, and of the body if it was read. Never empty.
    var differences: [RequestDifference]
}
