internal import CassetteModel
internal import TapeBytes

/// What a recorded exchange requires of a request in a cassette with stubs, beyond the key that both have.
///
/// The keys of such a cassette contain no query, because a stub may answer requests with any. So an exchange that is not a stub requires its
/// whole head, and a stub what its conditions name.
struct ExchangeDemands: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case nothing
        /// Of an exchange that is not a stub.
        case head([UInt8])
        case stub(StubDemands)
    }

    private var kind: Kind
    /// Whether a request with a body of another kind or with other facets may get the answer.
    let ignoresBody: Bool
    /// Whether the stub names a body but no type, so that a request with the body may have any type.
    let takesType: Bool

    /// Of an exchange in a cassette without stubs.
    static let none = ExchangeDemands(.nothing)

    private init(_ kind: Kind) {
        self.kind = kind
        self.ignoresBody = false
        self.takesType = false
    }

    /// - Parameter head: the key of the exchange with its query.
    static func ofWhole(_ head: [UInt8]) -> ExchangeDemands { ExchangeDemands(.head(head)) }

    /// - Parameter body: nil if the body is not compared, or by its kind.
    init(_ stub: StubConditions, _ request: RecordedRequest, _ rules: MatchRules, body: StubDemands.BodyDemand?) {
        let comparesBody = stub.exact.contains { if case .bodyAs = $0 { true } else { $0 == .body } }
        self.ignoresBody = !comparesBody || body != nil
        self.takesType = !self.ignoresBody && request.body != nil && !request.headers.contains("content-type")
        self.kind = .stub(StubDemands(stub, request, rules, body: body))
    }

    var isStub: Bool { if case .stub = self.kind { true } else { false } }

    /// Without what only explains a difference.
    var forComparison: ExchangeDemands {
        guard case .stub(let stub) = self.kind else { return self }
        var demands = self
        demands.kind = .stub(stub.forComparison)
        return demands
    }

    /// Whether a request meets them.
    ///
    /// - Parameter recorded: the fields of the recorded request.
    func areMet(by live: LiveFields, _ recorded: RequestProfile) -> Bool {
        switch self.kind {
        case .nothing: true
        case .head(let head): live.hasHead(head)
        case .stub(let stub): stub.areMet(by: live, recorded)
        }
    }

    /// The same without what the head requires, for a request whose key is different anyway.
    var withoutHead: ExchangeDemands { if case .head = self.kind { .none } else { self } }

    /// The names of the fields that keep a request from being answered.
    func fields(unmetBy live: LiveFields, _ recorded: RequestProfile) -> [String] {
        if case .stub(let stub) = self.kind { stub.fields(unmetBy: live, recorded) } else { [] }
    }

    /// How the URL of a request that does not meet them differs.
    func differences(from live: LiveFields) -> [RequestDifference] {
        switch self.kind {
        case .nothing: return []
        case .head(let head):
            guard !live.hasHead(head) else { return [] }
            return live.head.withUnsafeBytes { live in
                head.withUnsafeBytes { RequestComparison(RequestParts(live), RequestParts($0)).differences }
            }
        case .stub(let stub): return stub.differences(from: live)
        }
    }

    /// How the body of a request differs from one that a stub compares in its own way; nil if it is compared by its kind, or not at all.
    func bodyDifferences(from live: LiveFields) -> [RequestDifference]? {
        if case .stub(let stub) = self.kind { stub.bodyDifferences(from: live) } else { nil }
    }
}
