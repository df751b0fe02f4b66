internal import CassetteModel
internal import CassettePlayback
internal import Foundation
internal import TapeBytes
internal import TapeExchange
internal import TrafficRules

/// Changes the traffic of a cassette as its rules say: asks them about each request, and answers it itself or sends it on.
struct RuledTransport: Transport, WebSocketTransport {
    /// Bytes of a request's body that rules look at. Rules that look at the body of a longer one do not apply to it.
    private static let bodyLimit = 1 << 20

    private let rules: ClientRules
    private let next: any Transport
    private let cassette: Cassette
    private let clock: any Clock<Duration>
    private var watch: ElapsedClock { self.rules.watch }

    init(_ rules: ClientRules, before next: any Transport, of cassette: Cassette, clock: any Clock<Duration>) {
        self.rules = rules
        self.next = next
        self.cassette = cassette
        self.clock = clock
    }

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        var facts = self.facts(request)
        let needs = self.rules.engine.needs(for: facts)
        switch request.body {
        case .data(let data) where data.count <= Self.bodyLimit: facts.body = Array(data)
        case .file(let url, let size) where needs.body && size <= Self.bodyLimit:
            let head = facts
            return DeferredTask(receive: receive) {
                var facts = head
                facts.body = (try? Data(contentsOf: url)).map { Array($0) }
                facts.bodyIsUnread = facts.body == nil
                let plan = self.rules.engine.plan(for: facts, now: self.watch.elapsed)
                return DeferredTask.Prepared { self.follow(plan, request, receive) }
            }
        case .none: break
        case .data, .file, .unobservable: facts.bodyIsUnread = true
        }
        guard needs.disk else { return self.follow(self.rules.engine.plan(for: facts, now: self.watch.elapsed), request, receive) }
        let read = facts
        return DeferredTask(receive: receive) {
            let plan = self.rules.engine.plan(for: read, now: self.watch.elapsed)
            return DeferredTask.Prepared { self.follow(plan, request, receive) }
        }
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        var facts = self.facts(request)
        facts.opensWebSocket = true
        guard let plan = self.rules.engine.plan(for: facts, now: self.watch.elapsed) else {
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
        ruled.ruled = RuledRequest(plan, notes)
        return try await SocketOpening.open(ruled, protocols: protocols, with: self.next)
    }

    private func facts(_ request: TransportRequest) -> RequestFacts {
        RequestFacts(method: request.method, url: RequestDecider.url(of: request), headers: WireFields.ofRequest(request))
    }

    private func follow(
        _ plan: ExchangePlan?, _ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        guard let plan else { return self.next.start(request, receive: receive) }
        let notes = RuleNotes(self.rules.engine, plan)
        for pause in [plan.pausesRequest, plan.pausesResponse, plan.pausesEvents, plan.pausesMessages].compactMap({ $0 }) {
            notes.add(rule: pause.rule, "nothing waits in a test, which has no page")
        }
        let ruled = RuledRequest(plan, notes)
        if var answer = self.answer(plan, request) {
            self.answeredByRule()
            if let latency = plan.pace?.latency { answer.delay = latency }
            return answer.deliver(to: request, clock: self.clock, receive: receive)
        }
        var changed = request
        changed.ruled = ruled
        if let made = plan.answer {
            self.answeredByRule()
            if plan.records {
                notes.add(rule: made.rule, "answers of rules are recorded by the proxy only")
            }
            let task = RuledTask(
                request, ruled, self.rules, session: self.cassette.decider.session, clock: self.clock, start: self.watch.elapsed,
                receive: receive)
            let headers = HTTPSession.Headers(made.headers)
            let body = Data(made.body)
            return task.start(changed, on: StubTransport([StubResponse.response(made.status, headers: headers, body: body)]))
        }
        let task = RuledTask(
            request, ruled, self.rules, session: self.cassette.decider.session, clock: self.clock, start: self.watch.elapsed,
            receive: receive)
        return task.start(changed, on: self.next)
    }

    /// A request that no cassette sees still shows that the test has made one.
    private func answeredByRule() {
        _ = self.cassette.admit()
        self.cassette.decider.session.answeredByRule()
    }

    /// What a block or a fault answers in place of everybody; nil if neither does.
    private func answer(_ plan: ExchangePlan, _ request: TransportRequest) -> StubResponse? {
        let name = "\(request.method) \"\(LogURL.text(request.url))\""
        let rules = plan.names.map { "\"\($0)\"" }.joined(separator: ", ")
        if let block = plan.block {
            switch block {
            case .status(let status): return .text("a traffic rule blocks this request: \(rules).\n", status: status)
            case .close, .reset: return .failure(.reset, "\(name): the connection was closed by a traffic rule (\(rules))")
            }
        }
        guard let fault = plan.fault else { return nil }
        switch fault.kind {
        case .status(let status, let headers):
            var response = StubResponse.text("a traffic rule answers with this status: \(rules).\n", status: status)
            for field in HTTPSession.Headers(headers) { response.headers.add(field) }
            return response
        case .refuse: return .failure(.refused, "\(name): the connection was refused by a traffic rule (\(rules))")
        case .dns: return .failure(.dns, "\(name): the host has no address for a traffic rule (\(rules))")
        case .tls: return .failure(.tls, "\(name): the TLS handshake failed by a traffic rule (\(rules))")
        case .grpc:
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
