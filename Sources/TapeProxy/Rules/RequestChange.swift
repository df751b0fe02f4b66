internal import CassetteModel
internal import TapeExchange
internal import TrafficRules

/// How the rules of a plan change a request on its way to the origin. The recording has the request as the client sent it.
struct RequestChange {
    /// For the recording: which rules apply, and where the request goes instead.
    let modification: Modification
    /// Where the request goes; nil if that is its own origin.
    let origin: Origin?
    /// The edits of the body; nil if there are none.
    let bodyEdit: MessageEdit?
    private let rules: RuleEngine
    private let head: RequestHead
    private let target: RequestTarget
    private let isChanged: Bool

    init(_ plan: ExchangePlan, of request: IncomingRequest, rules: RuleEngine) {
        self.rules = rules
        var facts = RequestHeadFacts(method: request.head.method, url: plan.target?.url ?? request.url, headers: request.head.fields)
        var origin = plan.target?.origin
        if let origin { facts.headers = facts.headers.withHost(origin.authority) }
        let mappedURL = facts.url
        let mappedHost = facts.headers.first("host")
        for note in plan.requestEdit?.apply(to: &facts) ?? [] { rules.note(rule: note.rule, note.text) }
        var head = request.head
        var target = request.target
        head.method = facts.method
        if facts.url != request.url, case .absolute(let named, let path)? = try? RequestTarget(facts.url, method: facts.method) {
            head.target = facts.url
            head.rawTarget = nil
            target = .absolute(named, originForm: path)
            if facts.url != mappedURL, named != origin ?? request.origin {
                origin = named
                // Unless a rule has set the field.
                if facts.headers.first("host") == mappedHost { facts.headers = facts.headers.withHost(named.authority) }
            }
            if head.authority != nil { head.authority = (origin ?? named).authority }
        }
        head.fields = facts.headers
        self.head = head
        self.target = target
        self.origin = origin
        self.isChanged = head != request.head || target != request.target
        self.bodyEdit = plan.requestEdit.flatMap { $0.editsBody && request.hasBody ? $0 : nil }
        self.modification = Modification(rules: plan.names, forwardedTo: facts.url == request.url ? nil : facts.url)
    }

    /// The stream that sends the request as it is changed.
    func applied(to upstream: any UpstreamStream) -> any UpstreamStream {
        self.isChanged || self.bodyEdit != nil ? ChangedUpstreamStream(upstream, self) : upstream
    }

    /// The head to send, and its target.
    func changed(_ sent: RequestHead) -> (head: RequestHead, target: RequestTarget) {
        guard self.isChanged else { return (sent, self.target) }
        var head = self.head
        // The proxy counts it down on the way.
        if sent.fields.contains("max-forwards"), let value = sent.fields.first("max-forwards") {
            head.fields = head.fields.replacing("max-forwards", with: value)
        }
        return (head, self.target)
    }

    /// The edited body.
    func edited(_ body: [UInt8], headers: inout HeaderFields) -> [UInt8] {
        guard let edit = self.bodyEdit else { return body }
        let (edited, notes) = edit.applyBody(body, headers: &headers)
        for note in notes { self.rules.note(rule: note.rule, note.text) }
        return edited
    }

    /// Notes that a body stays as it is because it is too long.
    func bodyIsTooLong() {
        for rule in self.bodyEdit?.rules ?? [] {
            self.rules.note(
                rule: rule, "the body of a request has more than \(ChangedUpstreamStream.heldLimit >> 20) MiB and is not edited")
        }
    }
}

extension IncomingRequest {
    /// The origin in its URL; nil if its URL has none.
    fileprivate var origin: Origin? {
        guard case .absolute(let origin, _)? = try? RequestTarget(self.url, method: "GET") else { return nil }
        return origin
    }
}

extension HeaderFields {
    fileprivate func withHost(_ authority: String) -> HeaderFields {
        self.contains("host") ? self.replacing("host", with: authority) : self
    }
}
