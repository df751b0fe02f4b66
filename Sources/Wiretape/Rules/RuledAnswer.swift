internal import CassetteModel
internal import Foundation
internal import TapeBytes
internal import TapeExchange
internal import TrafficRules

/// Changes the events of one answer as rules say: edits, faults, latency and rates.
///
/// Delivers nothing and waits for nothing: takes events, and returns steps.
struct RuledAnswer {
    enum Step: Sendable {
        case emit(TransportEvent)
        case wait(Duration)
        /// A fault: nothing comes for this time.
        case stall(Duration)
        /// Bytes that wait until the rates allow them.
        case throttled(Data)
        /// Nothing more comes.
        case hang
    }

    private let request: TransportRequest
    private let ruled: RuledRequest
    private var editing: AnswerEditing<Never>?
    private var breaking: AnswerBreaking<Never>?
    private var isDelayed = false
    private var head: HTTPSession.Response?
    private var hasHead = false
    private var isOver = false
    /// What is still to come of a body whose length the head says; nil if it does not.
    private var left: Int?
    private var trailers: HTTPSession.Headers?
    private var metrics: ExchangeMetrics?

    init(_ request: TransportRequest, _ ruled: RuledRequest) {
        self.request = request
        self.ruled = ruled
        self.editing = ruled.plan.responseEdit.map { AnswerEditing($0, method: request.method, notes: ruled.notes) }
        self.breaking = ruled.plan.fault.map { AnswerBreaking($0, method: request.method, notes: ruled.notes, endsByLength: true) }
    }

    /// Whether the client got less than the whole answer, or another one, so that it may ask again.
    var isBroken: Bool { self.breaking?.isBroken == true }

    mutating func take(_ event: TransportEvent) -> [Step] {
        guard !self.isOver else { return [] }
        switch event {
        case .sent, .interim: return [.emit(event)]
        case .head(let head):
            self.head = head
            return self.begins() + self.put(.head(self.shown(head), self.framing(head)))
        case .chunk(let data): return self.put(.data(Array(data)))
        case .trailers(let trailers):
            self.trailers = trailers
            return []
        case .metrics(let metrics):
            self.metrics = metrics
            return []
        case .end: return self.put(.end(.finished(HeaderFields(), NeverIndexed())))
        case .failed(let failure):
            // What came before it is delivered as far as it is held.
            let steps = self.begins() + self.put(.end(.cut))
            return steps.map { step in
                if case .emit(.failed) = step { .emit(.failed(failure)) } else { step }
            }
        }
    }

    /// The latency, once.
    private mutating func begins() -> [Step] {
        guard !self.isDelayed else { return [] }
        self.isDelayed = true
        let latency = self.ruled.plan.pace?.latency ?? .zero
        return latency > .zero ? [.wait(latency)] : []
    }

    private mutating func put(_ item: AnswerStep<Never>) -> [Step] {
        let edited = self.editing?.put(item) ?? [item]
        let broken = edited.flatMap { self.breaking?.put($0) ?? [$0] }
        return broken.flatMap { self.step($0) }
    }

    private mutating func step(_ item: AnswerStep<Never>) -> [Step] {
        guard !self.isOver else { return [] }
        switch item {
        case .interim, .flush, .closeOutput, .raw: return []
        case .head(let head, let framing):
            self.hasHead = true
            switch framing {
            case .length(let length): self.left = length
            case .none: self.left = 0
            case .chunked, .untilClose: self.left = nil
            }
            return [.emit(.head(self.response(head)))]
        case .data(let bytes):
            guard !bytes.isEmpty else { return [] }
            self.left = self.left.map { $0 - bytes.count }
            return [self.ruled.plan.pace?.down.isEmpty == false ? .throttled(Data(bytes)) : .emit(.chunk(Data(bytes)))]
        case .stall(let time): return [time.map { .stall($0) } ?? .hang]
        case .end(.finished):
            self.isOver = true
            let rest: [TransportEvent?] = [self.trailers.map { .trailers($0) }, self.metrics.map { .metrics($0) }, .end]
            return rest.compactMap { $0.map { .emit($0) } }
        case .end:
            self.isOver = true
            // The client has the whole answer, as through the proxy: what breaks behind it is no failure of this request.
            if self.left == 0 { return [.emit(.end)] }
            return [.emit(.failed(self.failure))]
        }
    }

    private var failure: TransportFailure {
        let name = "\(self.request.method) \"\(LogURL.text(self.request.url))\""
        let rules = self.ruled.plan.names.map { "\"\($0)\"" }.joined(separator: ", ")
        return self.hasHead
            ? TransportFailure(.network(.truncated), "the answer to \(name) was cut by a traffic rule (\(rules))")
            : TransportFailure(.network(.reset), "the connection of \(name) was closed by a traffic rule (\(rules))")
    }

    // MARK: Heads

    /// The body has no content codings any more, so rules see none.
    private func shown(_ head: HTTPSession.Response) -> ResponseHead {
        var fields = head.headers.headerFields
        if fields.contains("content-encoding") { fields = fields.removing("content-encoding").removing("content-length") }
        return ResponseHead(version: .http11, status: head.status, reason: Array(head.reason.utf8), fields: fields)
    }

    private func framing(_ head: HTTPSession.Response) -> BodyFraming {
        guard self.request.method != "HEAD", head.status != 204, head.status != 304 else { return .none }
        return head.bodySize.map { .length(Int($0)) } ?? .untilClose
    }

    private func response(_ head: ResponseHead) -> HTTPSession.Response {
        var response = self.head ?? HTTPSession.Response(url: self.request.url, status: head.status)
        response.status = head.status
        response.reason = String(decoding: head.reason, as: UTF8.self)
        let coding = response.headers.value(for: "Content-Encoding")
        response.headers = HTTPSession.Headers(head.fields)
        if let coding, head.status != 204, head.status != 304 { response.headers.add(name: "Content-Encoding", value: coding) }
        return response
    }
}
