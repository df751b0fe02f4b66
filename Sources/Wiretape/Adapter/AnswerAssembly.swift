internal import Foundation

/// Makes the calls that tell a URL session of an answer out of the events of a transport.
///
/// Knows nothing of when they may be made. An answer without a head is a failure: URLSession dies of one.
struct AnswerAssembly: Sendable {
    enum Call: Sendable {
        case response(HTTPResponse)
        case body(Data)
        case finished
        case failed(TransportFailure)

        var isLast: Bool {
            switch self {
            case .response, .body: false
            case .finished, .failed: true
            }
        }
    }

    /// Only one call for the body, at its end: on Linux whoever has a completion handler gets the last call's octets alone.
    var joinsBody = true

    private var waiting: [Call] = []
    private var hasHead = false
    /// Nothing more can come.
    private(set) var isEnded = false

    /// Nothing comes behind the last event.
    mutating func received(_ event: TransportEvent) {
        guard !self.isEnded else { return }
        switch event {
        // URLSession of Linux takes an interim response for the response; it knows no trailers, and has no place for our metrics.
        case .sent, .interim, .trailers, .metrics: return
        case .head(let response):
            guard !self.hasHead else { return }
            self.hasHead = true
            self.waiting.append(.response(response))
        case .chunk(let data):
            guard self.hasHead, !data.isEmpty else { return }
            self.waiting.append(.body(data))
        case .end:
            self.isEnded = true
            let headless = TransportFailure(.network(.malformed), "the answer has no status line and no header: see who made it")
            self.waiting.append(self.hasHead ? .finished : .failed(headless))
        case .failed(let failure):
            self.isEnded = true
            self.waiting.append(.failed(failure))
        }
    }

    /// Whether there are calls to make now.
    var isReady: Bool { self.isEnded || (!self.joinsBody && !self.waiting.isEmpty) }

    /// More than one piece of the body waits.
    var hasPieces: Bool {
        var pieces = 0
        for case .body in self.waiting { pieces += 1 }
        return pieces > 1
    }

    /// What is to be called now, each call once.
    mutating func take() -> [Call] {
        guard self.isReady else { return [] }
        defer { self.waiting = [] }
        guard self.joinsBody, self.hasPieces else { return self.waiting }
        var whole = Data()
        for case .body(let piece) in self.waiting { whole.append(piece) }
        var calls: [Call] = []
        for call in self.waiting {
            switch call {
            case .body: continue
            case .response: calls += [call, .body(whole)]
            case .finished, .failed: calls.append(call)
            }
        }
        return calls
    }
}
