internal import Foundation

/// Turns the events of a transport into the calls that report a response to a `URLSession`.
///
/// Does not know when the calls may be made. A response without a head becomes a failure, because URLSession would crash on it.
struct AnswerAssembly: Sendable {
    enum Call: Sendable {
        case response(HTTPSession.Response)
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

    /// One call for the whole body, at its end: on Linux a completion handler gets only the bytes of the last call.
    var joinsBody = true

    private var waiting: [Call] = []
    private var hasHead = false
    /// No more calls can follow.
    private(set) var isEnded = false

    /// Ignores events after the last one.
    mutating func received(_ event: TransportEvent) {
        guard !self.isEnded else { return }
        switch event {
        // On Linux, URLSession mistakes an interim response for the final one. It can neither deliver trailers nor accept our metrics.
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
            let headless = TransportFailure(.network(.malformed), "the response has no head: check the transport that produced it")
            self.waiting.append(self.hasHead ? .finished : .failed(headless))
        case .failed(let failure):
            self.isEnded = true
            self.waiting.append(.failed(failure))
        }
    }

    /// Whether there are calls to make now.
    var isReady: Bool { self.isEnded || (!self.joinsBody && !self.waiting.isEmpty) }

    /// Whether more than one piece of the body is waiting.
    var hasPieces: Bool {
        var pieces = 0
        for case .body in self.waiting { pieces += 1 }
        return pieces > 1
    }

    /// The calls to make now, each returned once.
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

/// Separates the redirects of one load from its response.
///
/// Knows events, never exchanges: the caller decides whether the next request is sent.
struct LoadRedirects: Sendable {
    enum Finding: Sendable {
        /// The event belongs to the response.
        case answer
        /// The event belongs to a redirect that has not ended.
        case redirect
        /// The redirect is complete.
        case ended(HTTPSession.Response, next: TransportRequest)
        case failed(TransportFailure)
    }

    /// The body of the redirect, in case a delegate accepts the redirect itself as the response.
    private(set) var body: [Data] = []
    private var request: TransportRequest?
    private var hops = 0
    private var redirect: (response: HTTPSession.Response, next: TransportRequest)?

    /// The first request or the next one is sent.
    mutating func sent(_ request: TransportRequest) {
        self.request = request
        (self.redirect, self.body) = (nil, [])
    }

    mutating func received(_ event: TransportEvent) -> Finding {
        guard let redirect = self.redirect else { return self.begins(event) }
        switch event {
        case .end: return .ended(redirect.response, next: redirect.next)
        case .chunk(let data): self.body.append(data)
        case .failed:
            self.redirect = nil
            return .answer
        case .sent, .interim, .head, .trailers, .metrics: break
        }
        return .redirect
    }

    private mutating func begins(_ event: TransportEvent) -> Finding {
        guard case .head(let response) = event, let request = self.request else { return .answer }
        switch RedirectRule().decide(method: request.method, url: request.url, response: response, hops: self.hops) {
        case .stay: return .answer
        case .follow(let redirect):
            self.hops += 1
            self.redirect = (response, redirect.request(following: request))
            return .redirect
        case .refuse(let error): return .failed(TransportFailure(.network(.malformed), error.message, cause: error))
        }
    }
}
