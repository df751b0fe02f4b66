internal import CassetteModel
internal import CassettePlayback
internal import Foundation
internal import TapeBytes
internal import TapeExchange
internal import TrafficRules

/// Changes the traffic of a cassette as its rules say: asks them about each request, and answers it itself or sends it on.
struct RuledTransport: Transport, WebSocketTransport {
    private let rules: ClientRules
    private let next: any Transport
    private let cassette: Cassette
    private let clock: any Clock<Duration>
    private let owner: ClockOwner
    private let time: ClientRules.Time

    /// Whether somebody asks for a verdict on the client.
    var judgesClient: Bool { self.rules.attempts != nil }

    init(_ rules: ClientRules, before next: any Transport, of cassette: Cassette, clock: any Clock<Duration>, owner: ClockOwner) {
        self.rules = rules
        self.owner = owner
        self.time = rules.time(of: clock, owner: owner)
        self.next = next
        self.cassette = cassette
        self.clock = clock
    }

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        var facts = self.facts(request)
        let needs = self.rules.engine.needs(for: facts)
        switch request.body {
        case .data(let data) where data.count <= RequestFacts.bodyLimit: facts.body = Array(data)
        // The verdict compares bodies as well.
        case .file(let url, let size) where (needs.body || self.rules.attempts != nil) && size <= RequestFacts.bodyLimit:
            let head = facts
            return DeferredTask(receive: receive) {
                var facts = head
                facts.body = (try? Data(contentsOf: url)).map { Array($0) }
                facts.bodyIsUnread = facts.body == nil
                let plan = self.rules.engine.plan(for: facts, now: self.time.elapsed)
                return DeferredTask.Prepared { [facts] in self.follow(plan, facts, request, receive) }
            }
        case .none: break
        case .data(let data):
            facts.bodyIsUnread = true
            facts.bodyBeginning = (Array(data.prefix(RequestFacts.bodyLimit)), data.count)
        case .file, .unobservable: facts.bodyIsUnread = true
        }
        guard needs.disk else {
            return self.follow(self.rules.engine.plan(for: facts, now: self.time.elapsed), facts, request, receive)
        }
        let read = facts
        return DeferredTask(receive: receive) {
            let plan = self.rules.engine.plan(for: read, now: self.time.elapsed)
            return DeferredTask.Prepared { self.follow(plan, read, request, receive) }
        }
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        var facts = self.facts(request)
        facts.opensWebSocket = true
        guard let plan = self.rules.engine.plan(for: facts, now: self.time.elapsed), !plan.rules.isEmpty else {
            return try await SocketOpening.open(request, protocols: protocols, with: self.next)
        }
        let notes = RuleNotes(self.rules.engine, plan)
        if let answer = self.answer(plan, request) {
            self.answeredByRule()
            return try await answer.open(request, protocols: protocols, clock: self.clock)
        }
        if let fault = plan.fault {
            notes.add(rule: fault.rule, "faults within a WebSocket are for the proxy: the client's WebSocket opens")
        }
        if let latency = plan.pace?.latency, latency > .zero { try await ElapsedClock(self.clock).sleep(for: latency) }
        var ruled = request
        ruled.ruled = RuledRequest(plan, notes, attempt: nil)
        return try await SocketOpening.open(ruled, protocols: protocols, with: self.next)
    }

    private func facts(_ request: TransportRequest) -> RequestFacts {
        let fields = WireFields.ofRequest(request)
        return RequestFacts(
            method: request.method, url: RequestDecider.url(of: request), headers: fields, isGRPC: GRPCType(fields) != nil)
    }

    private func follow(
        _ plan: ExchangePlan?, _ facts: RequestFacts, _ request: TransportRequest,
        _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        guard let attempt = self.attempt(facts, request.body) else { return self.carryOut(plan, nil, request, receive) }
        return self.carryOut(plan, attempt, request) { event in
            attempt.took(event)
            return receive(event)
        }
    }

    /// Nil if nobody asks for a verdict on the client.
    private func attempt(_ facts: RequestFacts, _ body: RequestBody) -> ClientAttempt? {
        let time = self.time
        return self.rules.attempts.flatMap { ClientAttempt(facts, body: body, log: $0, engine: self.rules.engine) { time.elapsed } }
    }

    private func carryOut(
        _ plan: ExchangePlan?, _ attempt: ClientAttempt?, _ request: TransportRequest,
        _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        if let plan { attempt?.isCounted(by: plan.quotaValues) }
        guard let plan, !plan.rules.isEmpty else { return self.next.start(request, receive: receive) }
        let notes = RuleNotes(self.rules.engine, plan)
        for pause in [plan.pausesRequest, plan.pausesResponse, plan.pausesEvents, plan.pausesMessages].compactMap({ $0 }) {
            notes.add(rule: pause.rule, "nothing waits in a test, which has no page")
        }
        let ruled = RuledRequest(plan, notes, attempt: attempt)
        if var answer = self.answer(plan, request) {
            self.answeredByRule()
            attempt?.injected()
            if case .hang = answer.ending { attempt?.stalled() }
            if let latency = plan.pace?.latency { answer.delay = latency }
            guard plan.block != nil, plan.records else { return answer.deliver(to: request, clock: self.clock, receive: receive) }
            var recorded = request
            recorded.ruled = ruled
            return self.recording(StubTransport([answer], clock: self.clock)).start(recorded, receive: receive)
        }
        var changed = request
        changed.ruled = ruled
        let task = RuledTask(
            request, ruled, self.rules, session: self.cassette.decider.session, clock: self.clock, start: self.time.elapsed,
            receive: receive)
        guard let made = plan.answer else { return task.start(changed, on: self.next) }
        self.answeredByRule()
        attempt?.injected()
        let headers = HTTPSession.Headers(made.headers)
        let body = Data(made.body)
        let stub = StubTransport([StubResponse.response(made.status, headers: headers, body: body)])
        return task.start(changed, on: plan.records ? self.recording(stub) : stub)
    }

    private func recording(_ stub: StubTransport) -> any Transport {
        MadeAnswerTransport(cassette: self.cassette, inner: stub, clock: self.clock)
    }

    /// A request that no cassette sees still shows that the test has made one.
    private func answeredByRule() {
        _ = self.cassette.admit()
        self.cassette.decider.session.answeredByRule()
    }

    /// RFC 9110, 6.4.1 and 15.3.6: these have no body.
    private static func text(_ text: String, _ status: Int) -> StubResponse {
        [204, 205, 304].contains(status) ? .response(status) : .text(text, status: status)
    }

    /// What a block or a fault answers in place of everybody; nil if neither does.
    private func answer(_ plan: ExchangePlan, _ request: TransportRequest) -> StubResponse? {
        let name = "\(request.method) \"\(LogURL.text(request.url))\""
        let rules = plan.names.map { "\"\($0)\"" }.joined(separator: ", ")
        if let block = plan.block {
            switch block {
            case .status(let status): return Self.text("a traffic rule blocks this request: \(rules).\n", status)
            case .close, .reset: return .failure(.reset, "\(name): the connection was closed by a traffic rule (\(rules))")
            }
        }
        guard let fault = plan.fault else { return nil }
        switch fault.kind {
        case .status(let status, let headers):
            var response = Self.text("a traffic rule answers with this status: \(rules).\n", status)
            for field in HTTPSession.Headers(headers) { response.headers.add(field) }
            return response
        case .refuse: return .failure(.refused, "\(name): the connection was refused by a traffic rule (\(rules))")
        case .dns: return .failure(.dns, "\(name): the host has no address for a traffic rule (\(rules))")
        case .tls: return .failure(.tls, "\(name): the TLS handshake failed by a traffic rule (\(rules))")
        case .grpc(let status, let message):
            let fields = request.headers.headerFields
            if GRPCType(fields) != nil {
                // A call that ends without messages has its status in the head (gRPC over HTTP2, "Responses").
                var response = StubResponse.response()
                response.headers.add(name: "Content-Type", value: fields.first("content-type") ?? "application/grpc")
                response.headers.add(name: "grpc-status", value: "\(status.code)")
                let printable = CharacterSet(charactersIn: " "..."~").subtracting(CharacterSet(charactersIn: "%"))
                response.headers.add(
                    name: "grpc-message", value: message.addingPercentEncoding(withAllowedCharacters: printable) ?? "")
                return response
            }
            RuleNotes(self.rules.engine, plan).add(rule: fault.rule, "a request is not a call of gRPC")
            return nil
        case .close, .reset, .timeout:
            guard let step: AnswerStep<Never> = fault.whole() else { return nil }
            // A session with an immediate clock has no timeouts: it would wait for ever.
            if case .stall = step {
                return ElapsedClock(self.clock).isImmediate
                    ? .failure(.timeout, "\(name): no answer came by a traffic rule (\(rules))") : .hang
            }
            return .failure(.reset, "\(name): the connection was closed by a traffic rule (\(rules))")
        case .webSocketClose, .stall, .truncate, .cut, .garbage, .corrupt, .slice, .reorder, .repeat, .drop: return nil
        }
    }
}
