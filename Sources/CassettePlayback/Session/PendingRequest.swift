internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// A request whose head has come, and whose body decides what answers it.
///
/// Holds no exchange: a request that is given up before its body's end has consumed nothing. Any thread may use it.
public final class PendingRequest: Sendable {
    public let method: String
    /// As the cassette would hold it: redacted.
    public let url: String
    /// As they came, for the body.
    let headers: HeaderFields
    /// As the cassette would hold them.
    private let comparedHeaders: HeaderFields
    private let redaction: LiveRedactor?
    let rules: MatchRules
    /// What of the head is compared.
    let head: [UInt8]
    /// The recorded requests with an equal head; nil where there is none, and the body is wanted for the refusal alone.
    let key: Int?
    private let digest: @Sendable () -> any ContentDigest
    /// What reading the cassette has brought to light about this request.
    let findings = Guarded(PendingFindings())

    init(
        method: String, url: String, headers: HeaderFields, comparedHeaders: HeaderFields, rules: MatchRules, redaction: LiveRedactor?,
        head: [UInt8], key: Int?, digest: @escaping @Sendable () -> any ContentDigest
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.comparedHeaders = comparedHeaders
        self.redaction = redaction
        self.rules = rules
        self.head = head
        self.key = key
        self.digest = digest
    }

    /// Takes the body's wire octets as they come; its `finish` gives what `CassetteSession.decide` asks for. Where no body follows,
    /// finish it at once.
    public func body() -> PendingBody {
        PendingBody(rules: self.rules, headers: self.headers, url: self.url, redaction: self.redaction, digest: self.digest)
    }

    func matched(_ body: BodyFacets) -> MatchedRequest {
        MatchedRequest(method: self.method, url: self.url, headers: self.comparedHeaders, body: body)
    }
}
