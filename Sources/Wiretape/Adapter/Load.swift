internal import Foundation
internal import TapeCore

/// One request of a session of others, from its first call until its answer is given.
///
/// Starts the exchange, follows redirects where the system cannot, keeps what comes until it may be given, and gives up when it takes too
/// long. Never calls URLSession: whoever owns the load makes the calls that it hands out, where they may be made.
final class Load: Sendable {
    /// Where the request of a load comes from.
    enum Source: Sendable {
        /// At once, where the load was started.
        case ready(TransportRequest)
        /// Elsewhere: its body has to be read first, or the transport must not be asked where URLSession calls.
        case later(@Sendable (_ done: @escaping @Sendable (Result<Made, TransportFailure>) -> Void) -> Void)
    }

    struct Made: Sendable {
        var request: TransportRequest
        /// Its body, where it was too large for the memory: lives as long as the load.
        var file: TemporaryFile?
    }

    private struct Contents: Sendable {
        var state = LoadState()
        var answer = AnswerAssembly()
        var exchange: (any TransportTask)?
        var file: TemporaryFile?
        /// Counts the exchanges: what an earlier one still says is not heard.
        var number = 0
        /// The transport is being asked.
        var isAsking = false
        var request: TransportRequest?
        var hops = 0
        /// What is to be asked when this exchange has ended.
        var redirect: (response: HTTPResponse, next: TransportRequest)?
        /// Of the answer that redirects, for a delegate that wants it.
        var redirectBody: [Data] = []
        var next: TransportRequest?
        /// When it began to be watched; nil for an answer that is there at once.
        var begin: Duration?
        /// Since then.
        var lastSign: Duration = .zero
        /// Its user or the clock has given it up: an exchange that starts now is not wanted any more.
        var isGivenUp = false
    }

    private let transport: any Transport
    private let host: LoadHost
    private let contents = Guarded(Contents())

    init(transport: any Transport, host: LoadHost) {
        self.transport = transport
        self.host = host
    }

    // MARK: - Calls of URLSession

    /// URLSession has started the load for the first time: what it is to be told now.
    func started(_ source: () throws(TransportFailure) -> Source) -> [AnswerAssembly.Call] {
        guard self.contents.withLock({ $0.state.loadingStarted() == .start }) else { return [] }
        self.begin(source)
        // Only now, since finding it out takes as long as most answers, and for an answer of one piece it makes no difference.
        let isAsked = self.contents.withLock { !$0.answer.isEnded || $0.answer.hasPieces }
        let joinsBody = !(isAsked && self.host.takesPieces())
        return self.contents.withLock { contents in
            contents.answer.joinsBody = joinsBody
            return contents.state.exchangeStarted() == .deliver ? Self.take(&contents) : []
        }
    }

    /// URLSession has started the load again, behind a suspension of its user or of ours: what it is to be told now.
    func startedAgain() -> [AnswerAssembly.Call] {
        self.contents.withLock { contents in
            contents.state.loadingStarted() == .deliver ? Self.take(&contents) : []
        }
    }

    /// URLSession has stopped the load.
    func stopped(isCancelled: Bool) {
        let exchange = self.contents.withLock { contents -> (any TransportTask)? in
            guard contents.state.loadingStopped(isCancelled: isCancelled) == .cancel else { return nil }
            contents.isGivenUp = true
            return contents.exchange
        }
        // Never here: the cancellation of a task of URLSession waits for the queue that calls us.
        if let exchange { self.host.elsewhere { exchange.cancel() } }
    }

    private static func take(_ contents: inout Contents) -> [AnswerAssembly.Call] {
        let calls = contents.answer.take()
        if calls.last?.isLast == true { contents.state.finished() }
        return calls
    }

    // MARK: - The exchange

    private func begin(_ source: () throws(TransportFailure) -> Source) {
        do throws(TransportFailure) {
            switch try source() {
            case .ready(let request): self.run(request)
            case .later(let make):
                self.watch()
                make { result in
                    switch result {
                    case .success(let made):
                        self.contents.withLock { $0.file = made.file }
                        self.host.elsewhere { self.run(made.request) }
                    case .failure(let failure): self.fail(failure)
                    }
                }
            }
        } catch {
            self.fail(error)
            return
        }
        // Nothing is armed for an answer that is there already.
        let isWaiting = self.contents.withLock { !$0.answer.isEnded && $0.begin == nil }
        if isWaiting { self.watch() }
    }

    /// Asks the transport, and again for each redirect that has come by the time it returns.
    private func run(_ first: TransportRequest) {
        var next: TransportRequest? = first
        while let request = next {
            let number = self.contents.withLock { contents -> Int? in
                guard !contents.state.isOver else { return nil }
                contents.number += 1
                contents.isAsking = true
                contents.request = request
                (contents.redirect, contents.redirectBody, contents.next, contents.exchange) = (nil, [], nil, nil)
                return contents.number
            }
            guard let number else { return }
            let exchange = self.transport.start(request) { event in
                self.received(event, of: number)
                // Whole bodies are kept in memory: URLSession does that too, and there is nobody to slow down.
                return .more
            }
            let isLate = self.contents.withLock { contents in
                contents.isAsking = false
                contents.exchange = exchange
                next = contents.next
                contents.next = nil
                return contents.isGivenUp
            }
            if isLate { self.host.elsewhere { exchange.cancel() } }
        }
    }

    private func received(_ event: TransportEvent, of number: Int) {
        if case .sent(let count, let total) = event { self.host.sent(count, total) }
        if case .head(let response) = event { self.host.cookies?.store(response) }
        enum Next { case comeBack, ask(HTTPResponse, TransportRequest), run(TransportRequest), wait }
        // The clock is not looked at for an answer that is there at once.
        let now = self.contents.withLock { $0.begin == nil } ? .zero : self.host.now()
        let next = self.contents.withLock { contents -> Next in
            guard contents.number == number, !contents.state.isOver else { return .wait }
            if let begin = contents.begin { contents.lastSign = max(now - begin, contents.lastSign) }
            switch self.redirected(event, &contents) {
            case .no: contents.answer.received(event)
            case .begun: return .wait
            case .failed(let failure): contents.answer.received(.failed(failure))
            case .ended(let response, let next):
                if self.host.decideRedirect != nil { return .ask(response, next) }
                guard !contents.isAsking else {
                    contents.next = next
                    return .wait
                }
                return .run(next)
            }
            return contents.answer.isReady && contents.state.answerArrived() == .comeBack ? .comeBack : .wait
        }
        switch next {
        case .wait: return
        case .comeBack: self.host.comeBack()
        case .run(let request): self.host.elsewhere { self.run(request) }
        case .ask(let response, let proposed):
            self.host.decideRedirect?(response, proposed) { request in
                if let request { self.host.elsewhere { self.run(request) } } else { self.stay(response) }
            }
        }
    }

    private enum Redirection {
        case no, begun
        case ended(HTTPResponse, TransportRequest)
        case failed(TransportFailure)
    }

    private func redirected(_ event: TransportEvent, _ contents: inout Contents) -> Redirection {
        if let (response, next) = contents.redirect {
            switch event {
            case .end: return .ended(response, self.host.cookies?.added(to: next) ?? next)
            case .chunk(let data): contents.redirectBody.append(data)
            case .failed:
                contents.redirect = nil
                return .no
            case .sent, .interim, .head, .trailers, .metrics: break
            }
            return .begun
        }
        guard self.host.followsRedirects, case .head(let response) = event, let request = contents.request else { return .no }
        switch RedirectRule().decide(method: request.method, url: request.url, response: response, hops: contents.hops) {
        case .stay: return .no
        case .follow(let redirect):
            contents.hops += 1
            contents.redirect = (response, redirect.request(following: request))
            return .begun
        case .refuse(let error): return .failed(TransportFailure(.network(.malformed), error.message, underlying: error))
        }
    }

    /// The delegate takes the redirect itself for the answer.
    private func stay(_ response: HTTPResponse) {
        let comesBack = self.contents.withLock { contents in
            guard !contents.state.isOver else { return false }
            contents.answer.received(.head(response))
            for data in contents.redirectBody { contents.answer.received(.chunk(data)) }
            contents.answer.received(.end)
            return contents.state.answerArrived() == .comeBack
        }
        if comesBack { self.host.comeBack() }
    }

    private func fail(_ failure: TransportFailure) {
        let comesBack = self.contents.withLock { contents in
            guard !contents.state.isOver else { return false }
            contents.answer.received(.failed(failure))
            return contents.state.answerArrived() == .comeBack
        }
        if comesBack { self.host.comeBack() }
    }

    // MARK: - Time

    private func watch() {
        let now = self.host.now()
        self.contents.withLock { $0.begin = now }
        self.look()
    }

    private func look() {
        let now = self.host.now()
        let decision = self.contents.withLock { contents -> LoadTimeLimits.Decision? in
            guard !contents.state.isOver, !contents.answer.isEnded, let begin = contents.begin else { return nil }
            return self.host.limits.decide(now: now - begin, lastSign: contents.lastSign)
        }
        switch decision {
        case nil: return
        case .wait(let duration): self.host.timer(duration) { [weak self] in self?.look() }
        case .fail(let reason):
            self.fail(TransportFailure(.network(.timeout), "\(reason): raise the session's time limits, or see what holds it up"))
            let exchange = self.contents.withLock { contents in
                contents.isGivenUp = true
                return contents.exchange
            }
            if let exchange { self.host.elsewhere { exchange.cancel() } }
        }
    }
}
