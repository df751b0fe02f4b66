internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2
internal import TrafficRules

/// An exchange that traffic rules apply to: reads what they look at, asks them for a plan, and carries it out around the exchange that
/// answers.
///
/// The client's stream runs this exchange, and the one that answers runs inside, on a `RuledStream`. Neither knows of the other. Not
/// Sendable: lives on its event loop.
final class RuledExchange: MessageExchange, TimedConnection {
    private let client: any ClientStream
    private let proxy: ProxyContext
    private let router: ExchangeRouter
    private let request: IncomingRequest
    private let scope: TunnelScope
    private let rules: SessionRules
    private let feed: RequestFeed
    /// Nil if it takes the request's body or the disk to make one.
    private let plan: ExchangePlan?
    private let needs: RuleEngine.Needs
    private var stream: RuledStream?
    /// Nil if nobody asks for a verdict on the client.
    private var watch: AttemptWatch?
    private var inner: (any MessageExchange)?
    /// Of a request that asks for a WebSocket.
    private var tunnelPlan: ExchangePlan?
    private var isOver = false
    /// The client was told to send its body.
    private var hasContinued = false
    /// A plan is being made on another thread.
    private var isPlanning = false
    /// The request waits for somebody's decision.
    private var point: PausePoint?
    /// Since the session began.
    private let began: Duration
    /// A rule has ended the answer, and the exchange inside goes on to the end of the origin's, so that it is recorded as a whole.
    private var isDetached = false
    private var stallDeadline: NIODeadline

    init(
        router: ExchangeRouter, request: IncomingRequest, scope: TunnelScope, rules: SessionRules, plan: ExchangePlan? = nil,
        needs: RuleEngine.Needs = .nothing
    ) {
        self.router = router
        self.client = router.stream
        self.proxy = router.stream.peer.session
        self.request = request
        self.scope = scope
        self.rules = rules
        self.plan = plan
        self.needs = needs
        self.feed = RequestFeed(client: router.stream)
        self.stallDeadline = self.proxy.stallDeadline
        self.began = rules.elapsed(at: router.stream.peer.session.now)
        let proxy = self.proxy
        self.watch = rules.attempts.flatMap { log in
            AttemptWatch(request, connection: self.client.peer.id, log: log, engine: rules.engine) { rules.elapsed(at: proxy.now) }
        }
        if !request.hasBody { self.watch?.requestBody(BodyPiece(bytes: ByteBuffer(), isLast: true)) }
    }

    func start() {
        if let plan { return self.carryOut(plan) }
        guard self.needs.body, self.request.hasBody else { return self.begin(body: nil) }
        if self.request.expectsContinue, !self.client.hasInput {
            self.client.send(interim: ResponseHead(version: .http11, status: 100, reason: Array("Continue".utf8), fields: HeaderFields()))
            self.client.flush()
            self.hasContinued = true
        }
        self.client.setReading(true)
    }

    // MARK: The plan

    /// - Parameter beginning: of a body that is too long to be looked at.
    private func begin(body: [UInt8]?, beginning: [UInt8]? = nil) {
        var facts = self.request.facts(body: body)
        if let beginning {
            let size = if case .length(let size) = self.request.framing { size } else { nil as Int? }
            facts.bodyBeginning = (beginning, size)
        }
        let (rules, now) = (self.rules, self.proxy.now)
        let isLong = BodyWork.isLong(body?.count ?? beginning?.count ?? 0, facts.headers)
        guard self.needs.disk || isLong else { return self.carryOut(rules.plan(for: facts, at: now) ?? .none) }
        let pool = isLong ? self.proxy.computing : self.proxy.disk
        self.work(in: pool, { [facts] in rules.plan(for: facts, at: now) }, then: { self.carryOut($0 ?? .none) })
    }

    /// Works on another thread, and goes on if the client is still there.
    private func work<Result: Sendable>(
        in pool: WorkPool, _ work: @escaping @Sendable () -> Result, then: @escaping (Result) -> Void
    ) {
        self.isPlanning = true
        let working = pool.run(on: self.proxy.loop, work)
        working.assumeIsolated().whenComplete { [self] result in
            self.isPlanning = false
            guard !self.isOver else { return }
            self.proxy.readClock()
            switch result {
            case .success(let value): then(value)
            case .failure: self.client.close()
            }
        }
    }

    private func carryOut(_ plan: ExchangePlan) {
        self.watch?.isCounted(by: plan.quotaValues)
        let notes = RuleNotes(self.rules.engine, plan)
        let change = RequestChange(plan, of: self.request, notes: notes, canPause: self.rules.desk != nil)
        guard let pause = plan.pausesRequest else { return self.carryOut(plan, change, notes) }
        let read = self.request.hasBody && self.feed.hasEnd && self.feed.contentSize <= RequestFacts.bodyLimit ? self.feed.content() : nil
        guard let body = read, BodyWork.isLong(body.count, self.request.head.fields) else {
            return self.wait(plan, pause, change, notes, read, change.content(body: read))
        }
        self.work(in: self.proxy.computing, { change.content(body: body) }, then: { self.wait(plan, pause, change, notes, body, $0) })
    }

    /// Waits for somebody's decision about the request.
    ///
    /// - Parameter content: what somebody sees of it.
    private func wait(
        _ plan: ExchangePlan, _ pause: Pause, _ change: RequestChange, _ notes: RuleNotes, _ body: [UInt8]?, _ content: PauseDesk.Content
    ) {
        var note: String?
        if self.request.hasBody, content.body == nil {
            note =
                body == nil
                ? "the body has more than \(RequestFacts.bodyLimit >> 20) MiB and goes on as it is"
                : "the content coding cannot be removed, or the content has more than \(PausePoint.contentLimit >> 20) MiB, so it goes on as it is"
        }
        self.point = self.waiting(plan, notes)(.request, content, note, pause) { [weak self] decision in
            guard let self else { return }
            self.point = nil
            switch decision {
            case .pass: self.carryOut(plan, change, notes)
            case .change(let changed):
                var change = change
                change.replace(content, with: changed, body: body ?? (self.request.hasBody ? nil : []))
                self.carryOut(plan, change, notes)
            case .answer(let answer):
                var plan = plan
                plan.answer = LocalAnswer(answer, rule: pause.rule)
                plan.records = false
                plan.fault = nil
                self.carryOut(plan, change, notes)
            case .drop:
                self.answeredByRule()
                self.client.close()
            }
        }
        if self.point == nil { self.carryOut(plan, change, notes) }
    }

    /// Puts a message on the desk; nil if it does not wait.
    private typealias Waiting = (
        PauseDesk.Stage, PauseDesk.Content, _ note: String?, Pause, _ then: @escaping (PauseDesk.Decision) -> Void
    ) -> PausePoint?

    /// Does not hold this exchange, which ends when a WebSocket opens while its messages still have to wait.
    private func waiting(_ plan: ExchangePlan, _ notes: RuleNotes) -> Waiting {
        let (request, rules, proxy, began) = (self.request, self.rules, self.proxy, self.began)
        return { stage, content, note, pause, then in
            let rule = plan.rules.firstIndex(of: pause.rule).map { plan.names[$0] } ?? ""
            let item = PauseDesk.Item(
                stage: stage, rule: rule, method: request.head.method, url: request.url, content: content, began: began,
                paused: rules.elapsed(at: proxy.now), wait: pause.wait, bodyNote: note)
            return PausePoint.wait(item, pause, rules, notes, proxy, then: then)
        }
    }

    private func pausing(_ plan: ExchangePlan, _ notes: RuleNotes) -> AnswerPausing? {
        let (rules, proxy) = (self.rules, self.proxy)
        return AnswerPausing(
            plan, method: self.request.head.method, notes: notes, reserve: { PausePoint.reserve($0, $1, rules, notes) },
            release: { rules.desk?.release($0) },
            schedule: { time, call in
                proxy.loop.assumeIsolated().scheduleTask(in: .nanoseconds(time.nanoseconds)) {
                    proxy.readClock()
                    call()
                }
            },
            point: self.waiting(plan, notes))
    }

    private func carryOut(_ plan: ExchangePlan, _ change: RequestChange, _ notes: RuleNotes) {
        let isWebSocket = WebSocketHandshake.isAsked(by: self.request.head)
        if isWebSocket { self.tunnelPlan = plan }
        self.feed.buckets = self.rules.buckets(of: plan.pace, .up, client: self.client.peer.id)
        let stream = RuledStream(
            self.client, editing: plan.responseEdit.map { AnswerEditing($0, method: self.request.head.method, notes: notes) },
            pausing: self.pausing(plan, notes),
            breaking: plan.fault.flatMap {
                AnswerBreaking($0, method: self.request.head.method, notes: notes, endsByLength: self.request.head.version != .http2)
            },
            latency: .nanoseconds(plan.pace?.latency.nanoseconds ?? 0),
            buckets: self.rules.buckets(of: plan.pace, .down, client: self.client.peer.id),
            request: (setReading: { [weak feed] in feed?.setReading($0) }, hasInput: { [weak feed] in feed?.hasInput ?? false }),
            becomes: { [weak self] in self?.become($0) })
        self.stream = stream
        stream.hasContinued = self.hasContinued
        stream.opensTunnelByHead = isWebSocket && self.request.head.version == .http2
        if let watch {
            let isMade = plan.block != nil || plan.answer != nil || (plan.fault.map { ProxyAnswer.isMade(by: $0) } ?? false)
            stream.watched = { watch.answered($0, isInjected: $1 || isMade) }
            stream.ended = { watch.ended() }
        }
        stream.answerMade = { [weak self] in self?.answerMade() }
        stream.brokenByRule = { [weak self] in self?.brokenByRule() }
        stream.writabilityChanged = { [weak self] in self?.inner?.clientWritabilityChanged($0) }
        let exchange = self.exchange(for: plan, change, notes, on: stream)
        guard case .message(let inner)? = exchange?.kind else { return }
        self.inner = inner
        self.feed.deliver = { [weak self] in self?.inner?.requestBody($0) }
        inner.start()
    }

    /// The exchange that answers; nil if the client gets no answer.
    private func exchange(
        for plan: ExchangePlan, _ change: RequestChange, _ notes: RuleNotes, on stream: RuledStream
    ) -> (any ClientExchange)? {
        if let block = plan.block {
            self.answeredByRule()
            switch block {
            case .status(let status):
                let answer = ProxyAnswer.blocked(status: status, by: plan.names)
                guard plan.records else { return self.local(answer, on: stream) }
                return RuleAnswerExchange(
                    client: stream, request: self.request, answer: LocalAnswer(answer, rule: plan.rules.first ?? 0),
                    modification: Modification(rules: plan.names), records: true)
            case .close: stream.cut()
            case .reset: stream.reset(code: HTTP2ErrorCode.internalError.rawValue, isOfConnection: false)
            }
            return nil
        }
        if let fault = plan.fault, let answer = ProxyAnswer(fault, rule: plan.names.last ?? "", origin: self.scope.origin) {
            self.answeredByRule()
            return self.local(answer, on: stream)
        }
        if let fault = plan.fault, let end: AnswerItem = fault.whole() {
            self.answeredByRule()
            stream.end(by: end)
            return nil
        }
        if case .grpc(let status, let message)? = plan.fault?.kind, let fault = plan.fault {
            if let call = self.request.call {
                self.answeredByRule()
                stream.send(GRPCStatus(code: status.code, message: message, error: "rule").head(call), framing: .none)
                stream.finish()
                return nil
            }
            notes.add(rule: fault.rule, "a request is not a call of gRPC")
        }
        if let answer = plan.answer {
            self.answeredByRule()
            return RuleAnswerExchange(
                client: stream, request: self.request, answer: answer, modification: Modification(rules: plan.names), records: plan.records)
        }
        var router = ExchangeRouter(stream: stream)
        if !plan.rules.isEmpty { router.change = change }
        return router.answer(self.request, change.origin.map { self.scope(of: $0) } ?? self.scope)
    }

    /// The cassette is not asked, so the replay's verdict has to know of the request in another way.
    private func answeredByRule() { self.proxy.session.answeredByRule() }

    private func local(_ answer: ProxyAnswer, on stream: RuledStream) -> LocalExchange {
        LocalExchange(client: stream, request: self.request, answer: answer)
    }

    /// Where requests go that a rule maps to another URL.
    private func scope(of origin: Origin) -> TunnelScope {
        let isHTTP2 = self.request.head.version == .http2
        let isSecure = origin.scheme == .https
        let name = isSecure && IPAddress(origin.host) == nil ? origin.host : nil
        let protocols = isSecure ? (isHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]) : []
        return TunnelScope(
            route: UpstreamRoute(origin, serverName: name, protocols: protocols, hops: self.request.hops))
    }

    private func become(_ exchange: any ClientExchange) {
        switch exchange.kind {
        case .message(let inner): self.inner = inner
        case .tunnel(let tunnel):
            guard let stream, let plan = self.tunnelPlan, plan.fault != nil || plan.pace != nil || plan.pausesMessages != nil else {
                return self.client.become(exchange)
            }
            self.feed.stop()
            stream.writabilityChanged = { tunnel.clientWritabilityChanged($0) }
            let notes = RuleNotes(self.rules.engine, plan)
            stream.open(plan.fault.map { TunnelBreaking($0, notes: notes) })
            let waiting = self.waiting(plan, notes)
            let pausing = plan.pausesMessages.map { pause in
                MessagePausing(note: { notes.add(rule: pause.rule, $0) }) { waiting(.clientMessage, $0, $1, pause, $2) }
            }
            let buckets = self.rules.buckets(of: plan.pace, .up, client: self.client.peer.id)
            self.client.become(RuledTunnel(tunnel, on: stream, buckets: buckets, pausing: pausing))
        }
    }

    // MARK: The request

    func requestBody(_ piece: BodyPiece) {
        self.stallDeadline = self.proxy.stallDeadline
        self.watch?.requestBody(piece)
        self.feed.put(piece)
        guard self.stream == nil, !self.isPlanning, self.point == nil else { return }
        // The size alone decides, not the pieces in which the body comes.
        if self.feed.contentSize > RequestFacts.bodyLimit {
            if !piece.isLast { self.client.setReading(false) }
            self.begin(body: nil, beginning: Array(self.feed.content().prefix(RequestFacts.bodyLimit)))
        } else if piece.isLast {
            self.begin(body: self.feed.content())
        }
    }

    func requestRest(_ piece: BodyPiece) { self.inner?.requestRest(piece) }

    func requestFailed(_ error: MessageError) {
        guard let inner else {
            self.client.send(ProxyAnswer.malformed(error).visible(to: self.request.head.fields), isFinal: true)
            return self.client.finish()
        }
        inner.requestFailed(error)
    }

    // MARK: Ends

    private func answerMade() {
        self.stallDeadline = self.proxy.stallDeadline
        self.inner = nil
        self.feed.stop()
        if self.isDetached {
            self.isDetached = false
            self.proxy.shared.registry.remove(self)
            self.proxy.remove(self)
        }
    }

    private func brokenByRule() {
        guard let inner, !self.isOver else { return }
        self.isOver = true
        self.isDetached = true
        self.proxy.shared.registry.add(self)
        self.proxy.add(self)
        if self.request.hasBody, !self.feed.hasEnd { inner.clientLeft("a rule ended the exchange before its request had ended") }
        inner.clientWritabilityChanged(true)
    }

    func clientWritabilityChanged(_ isWritable: Bool) {
        self.stallDeadline = self.proxy.stallDeadline
        self.stream?.clientWritabilityChanged()
        self.inner?.clientWritabilityChanged(self.stream?.isWritable ?? isWritable)
    }

    func clientStalled() { self.inner?.clientStalled() }

    func clientLeft(_ reason: String) {
        // The stream says so, too, when it closes because the answer has ended.
        guard !self.isOver, self.stream?.isOver != true else { return }
        self.isOver = true
        self.watch?.clientLeft()
        self.point?.clientLeft()
        self.point = nil
        self.stream?.clientLeft()
        self.feed.stop()
        self.inner?.clientLeft(reason)
        self.inner = nil
    }

    func proxyStopped() { self.inner?.proxyStopped() }

    /// A client that a rule keeps waiting for ever.
    var isIdle: Bool { self.inner?.isIdle ?? (self.point != nil || self.stream?.isWaiting == true) }

    // MARK: Time

    var deadline: NIODeadline {
        if self.isDetached { return self.inner?.deadline ?? .distantFuture }
        if self.point != nil || self.feed.isWaiting || self.isPlanning { return .distantFuture }
        if let stream, stream.isWaiting || stream.isWorking { return .distantFuture }
        return self.inner?.deadline ?? self.stallDeadline
    }

    func deadlinePassed() {
        guard let inner else { return self.client.close() }
        inner.deadlinePassed()
    }

    func stop() {}

    func abort() {
        self.inner?.proxyStopped()
        self.answerMade()
    }
}

extension IncomingRequest {
    /// What traffic rules look at.
    func facts(body: [UInt8]?) -> RequestFacts {
        var facts = RequestFacts(
            method: self.head.method, url: self.url, version: self.head.version, headers: self.head.fields, body: body,
            opensWebSocket: WebSocketHandshake.isAsked(by: self.head), isGRPC: self.call != nil)
        facts.bodyIsUnread = body == nil && self.hasBody
        facts.tlsIsOpen = self.isInTunnel && self.url.hasPrefix("https:")
        return facts
    }
}
