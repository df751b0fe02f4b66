internal import CassetteModel
internal import TapeExchange
internal import TrafficRules

/// How the rules of a plan change a request on its way to the origin. The recording has the request as the client sent it.
struct RequestChange: Sendable {
    /// For the recording: which rules apply, and where the request goes instead.
    private(set) var modification: Modification
    /// Where the request goes; nil if that is its own origin.
    private(set) var origin: Origin?
    /// The edits of the body; nil if there are none.
    private(set) var bodyEdit: MessageEdit?
    /// A body in place of the client's, with its content codings; nil if there is none.
    private(set) var wholeBody: [UInt8]?
    /// The WebSocket that the request asks for opens without compression, so that rules can change its messages one by one.
    let opensUncompressed: Bool
    private let notes: RuleNotes
    private let request: IncomingRequest
    private var facts: RequestHeadFacts
    private var head: RequestHead
    private var target: RequestTarget
    private var isChanged = false

    /// - Parameter canPause: whether somebody may decide about the messages of a WebSocket.
    init(_ plan: ExchangePlan, of request: IncomingRequest, notes: RuleNotes, canPause: Bool = false) {
        self.notes = notes
        self.request = request
        self.head = request.head
        self.target = request.target
        self.bodyEdit = plan.requestEdit.flatMap { $0.editsBody && request.hasBody ? $0 : nil }
        self.modification = Modification(rules: plan.names)
        var facts = RequestHeadFacts(method: request.head.method, url: plan.target?.url ?? request.url, headers: request.head.fields)
        var origin = plan.target?.origin
        if let origin { facts.headers = facts.headers.withHost(origin.authority) }
        let mappedURL = facts.url
        let mappedHost = facts.headers.first("host")
        notes.add(plan.requestEdit?.apply(to: &facts) ?? [])
        let rule = WebSocketHandshake.isAsked(by: request.head) ? plan.changesMessages(canPause: canPause) : nil
        self.opensUncompressed = rule != nil && facts.headers.contains(Self.extensions)
        if let rule, self.opensUncompressed {
            facts.headers = facts.headers.removing(Self.extensions)
            notes.remark(rule: rule, "a WebSocket is opened without compression, so that its messages can be changed one by one")
        }
        self.facts = facts
        self.set(facts, mapped: (mappedURL, mappedHost), origin: origin)
    }

    private static let extensions: StaticString = "sec-websocket-extensions"

    /// - Parameter mapped: the URL and the host before the edits, which go together.
    private mutating func set(_ edited: RequestHeadFacts, mapped: (url: String, host: String?), origin: Origin?) {
        var (facts, origin) = (edited, origin)
        var head = self.request.head
        var target = self.request.target
        head.method = facts.method
        if facts.url != self.request.url, case .absolute(let named, let path)? = try? RequestTarget(facts.url, method: facts.method) {
            head.target = facts.url
            head.rawTarget = nil
            target = .absolute(named, originForm: path)
            if facts.url != mapped.url, named != origin ?? self.request.origin {
                origin = named
                // Unless a rule has set the field.
                if facts.headers.first("host") == mapped.host { facts.headers = facts.headers.withHost(named.authority) }
            }
            if head.authority != nil { head.authority = (origin ?? named).authority }
        }
        head.fields = facts.headers
        self.head = head
        self.target = target
        self.origin = origin
        self.facts = facts
        self.isChanged = head != self.request.head || target != self.request.target
        self.modification.forwardedTo = facts.url == self.request.url ? nil : facts.url
    }

    /// The request as the server of a replayed WebSocket sees it.
    var handshake: RequestHead {
        var head = self.request.head
        if self.opensUncompressed { head.fields = head.fields.removing(Self.extensions) }
        return head
    }

    // MARK: By hand

    /// What somebody sees of the request, as the rules have changed it.
    ///
    /// - Parameter body: as the client sent it; nil if it has not been read.
    func content(body: [UInt8]?) -> PauseDesk.Content {
        var content = PauseDesk.Content()
        content.method = self.facts.method
        content.url = self.facts.url
        content.headers = self.facts.headers
        if let body {
            let edited = self.edited(body, headers: &content.headers)
            content.body = MessageEdit.content(of: edited, headers: content.headers, limit: PausePoint.contentLimit)
        }
        return content
    }

    /// Sends what somebody has made of the request.
    ///
    /// - Parameters:
    ///   - old: the content as it was shown.
    ///   - body: as the client sent it; nil if it has not been read.
    mutating func replace(_ old: PauseDesk.Content, with new: PauseDesk.Content, body: [UInt8]?) {
        var facts = RequestHeadFacts(method: new.method, url: new.url, headers: new.headers)
        if let shown = old.body, let changed = new.body, let body, changed != shown || self.bodyEdit != nil {
            self.wholeBody = MessageEdit.recoded(body, to: changed, headers: &facts.headers)
            self.bodyEdit = nil
        }
        self.set(facts, mapped: (old.url, old.headers.first("host")), origin: self.origin)
    }

    /// The stream that sends the request as it is changed.
    func applied(to upstream: any UpstreamStream, in proxy: ProxyContext) -> any UpstreamStream {
        self.isChanged || self.bodyEdit != nil || self.wholeBody != nil ? ChangedUpstreamStream(upstream, self, proxy) : upstream
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

    /// The edited body, and the head that describes it.
    func edited(_ body: [UInt8], _ head: RequestHead) -> (head: RequestHead, body: [UInt8]) {
        var changed = head
        let edited = self.edited(body, headers: &changed.fields)
        changed.fields = changed.fields.removing("transfer-encoding").removing("content-length")
        changed.fields.append(name: "Content-Length", value: "\(edited.count)")
        return (changed, edited)
    }

    /// The edited body.
    private func edited(_ body: [UInt8], headers: inout HeaderFields) -> [UInt8] {
        guard let edit = self.bodyEdit else { return body }
        let (edited, notes) = edit.applyBody(body, headers: &headers)
        self.notes.add(notes)
        return edited
    }

    /// Notes that a body stays as it is because it is too long.
    func bodyIsTooLong() {
        for rule in self.bodyEdit?.rules ?? [] {
            self.notes.add(
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
