internal import CassetteModel
internal import Foundation
internal import TapeBytes
internal import TrafficRules

/// What traffic rules do to one request on its way, for those who forward, record and replay it.
final class RuledRequest: Sendable {
    let plan: ExchangePlan
    let notes: RuleNotes
    /// For the verdict on the client; nil if nobody asks for one.
    let attempt: ClientAttempt?
    private let request: Guarded<TransportRequest?>
    /// The index of the recorded exchange that answers; nil until one does.
    private let recorded = Guarded<Int?>(nil)

    init(_ plan: ExchangePlan, _ notes: RuleNotes, attempt: ClientAttempt?) {
        self.plan = plan
        self.attempt = attempt
        self.notes = notes
        self.request = Guarded(nil)
    }

    /// A recorded exchange answers.
    func answers(with index: Int) { self.recorded.withLock { $0 = index } }

    /// The exchange that answered, once.
    func takeRecorded() -> Int? { self.recorded.withLock { $0.take() } }

    /// Whether the request changes on its way to the origin.
    private var isChanged: Bool { self.plan.target != nil || self.plan.requestEdit != nil }

    /// The request as it goes to the origin.
    func changed(_ request: TransportRequest) -> TransportRequest {
        guard self.isChanged else { return request }
        if let known = self.request.withLock({ $0 }) { return known }
        var facts = RequestHeadFacts(
            method: request.method, url: self.plan.target?.url ?? RequestDecider.url(of: request), headers: request.headers.headerFields)
        if self.plan.target != nil { facts.headers = facts.headers.removing("host") }
        var changed = request
        if let edit = self.plan.requestEdit {
            if edit.editsBody, case .data(let data) = request.body {
                let (body, notes) = edit.applyBody(Array(data), headers: &facts.headers)
                self.notes.add(notes)
                if body != Array(data) {
                    changed.body = .data(Data(body))
                    if facts.headers.contains("content-length") {
                        facts.headers = facts.headers.replacing("content-length", with: "\(body.count)")
                    }
                }
            } else if edit.editsBody {
                for rule in edit.rules { self.notes.add(rule: rule, "a request's body is absent or in a file, so it is not edited") }
            }
            self.notes.add(edit.apply(to: &facts))
        }
        changed.method = facts.method
        if let url = URL(string: facts.url) { changed.url = url }
        changed.headers = HTTPSession.Headers(facts.headers)
        self.request.withLock { $0 = changed }
        return changed
    }

    /// For the recording.
    func modification(of request: TransportRequest) -> Modification {
        let url = RequestDecider.url(of: self.changed(request))
        return Modification(rules: self.plan.names, forwardedTo: url == RequestDecider.url(of: request) ? nil : url)
    }
}

/// Sends requests as traffic rules change them.
struct ForwardingTransport: Transport, WebSocketTransport {
    let next: any Transport

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        self.next.start(request.ruled?.changed(request) ?? request, receive: receive)
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        try await SocketOpening.open(request.ruled?.changed(request) ?? request, protocols: protocols, with: self.next)
    }
}
