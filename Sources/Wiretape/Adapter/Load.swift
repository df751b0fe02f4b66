internal import CassetteModel
internal import CassetteStore
internal import Foundation
internal import TapeBytes

/// One request of a foreign `URLSession`, from its first call until its response is delivered.
///
/// Starts the exchange, follows redirects if the system cannot, buffers the response until it may be delivered, and times out. Never calls
/// URLSession: the owner makes the calls that the load returns, on a thread where they are allowed.
final class Load: Sendable {
    private struct Contents: Sendable {
        var state = LoadState()
        var answer = AnswerAssembly()
        var exchange: (any TransportTask)?
        var file: TemporaryFile?
        /// Counts the exchanges: events of an earlier one are ignored.
        var number = 0
        /// `Transport.start` has not returned yet.
        var isAsking = false
        var redirects = LoadRedirects()
        /// The next request, if its redirect arrived before `Transport.start` returned.
        var next: TransportRequest?
        var watch = LoadWatch()
        /// It was cancelled or has timed out: an exchange that starts now is cancelled.
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

    /// URLSession has started the load for the first time.
    ///
    /// - Returns: the calls to make now.
    func started(_ source: () throws(TransportFailure) -> LoadSource) -> [AnswerAssembly.Call] {
        guard self.contents.withLock({ $0.state.loadingStarted() == .start }) else { return [] }
        self.begin(source)
        // Ask only now: the question takes as long as most responses, and does not matter for a response of one piece.
        let isAsked = self.contents.withLock { !$0.answer.isEnded || $0.answer.hasPieces }
        let joinsBody = !(isAsked && self.host.takesPieces())
        return self.contents.withLock { contents in
            contents.answer.joinsBody = joinsBody
            return contents.state.exchangeStarted() == .deliver ? Self.take(&contents) : []
        }
    }

    /// URLSession has started the load again, after its user or the adapter suspended it.
    ///
    /// - Returns: the calls to make now.
    func startedAgain() -> [AnswerAssembly.Call] {
        self.contents.withLock { $0.state.loadingStarted() == .deliver ? Self.take(&$0) : [] }
    }

    /// URLSession has stopped the load.
    func stopped(isCancelled: Bool) {
        if self.contents.withLock({ $0.state.loadingStopped(isCancelled: isCancelled) == .cancel }) { self.giveUp() }
    }

    /// - Parameter failure: the error that the task fails with; nil if it was cancelled.
    private func giveUp(dueTo failure: TransportFailure? = nil) {
        let exchange = self.contents.withLock { contents in
            contents.isGivenUp = true
            return contents.exchange
        }
        guard let exchange else { return }
        // Explain at once: the cassette may be closed before the exchange is cancelled.
        (exchange as? any ExplainedTask)?.explain(failure ?? .cancelled())
        // Cancel elsewhere: cancelling a task of URLSession waits for the queue on which this method is called.
        self.host.elsewhere { exchange.cancel() }
    }

    private static func take(_ contents: inout Contents) -> [AnswerAssembly.Call] {
        let calls = contents.answer.take()
        if calls.last?.isLast == true { contents.state.finished() }
        return calls
    }

    // MARK: - The exchange

    private func begin(_ source: () throws(TransportFailure) -> LoadSource) {
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
            return self.fail(error)
        }
        // A complete response needs no timer.
        if self.contents.withLock({ !$0.answer.isEnded && !$0.watch.isOn }) { self.watch() }
    }

    /// Starts an exchange, and the next one if a redirect arrives before `start` returns.
    private func run(_ first: TransportRequest) {
        var next: TransportRequest? = first
        while let request = next {
            let number = self.contents.withLock { contents -> Int? in
                guard !contents.state.isOver else { return nil }
                contents.number += 1
                contents.isAsking = true
                contents.redirects.sent(request)
                (contents.next, contents.exchange) = (nil, nil)
                return contents.number
            }
            guard let number else { return }
            let exchange = self.transport.start(request) { event in
                self.received(event, of: number)
                // Buffers whole bodies in memory, as URLSession does.
                return .more
            }
            let isLate = self.contents.withLock { contents in
                contents.isAsking = false
                contents.exchange = exchange
                (next, contents.next) = (contents.next, nil)
                return contents.isGivenUp
            }
            if isLate { self.host.elsewhere { exchange.cancel() } }
        }
    }

    private func received(_ event: TransportEvent, of number: Int) {
        if case .sent(let count, let total) = event { self.host.sent(count, total) }
        if case .head(let response) = event { self.host.cookies?.store(response) }
        enum Next { case comeBack, ask(HTTPSession.Response, TransportRequest), run(TransportRequest), wait }
        // The clock is not read for a synchronous response.
        let now = self.contents.withLock { $0.watch.isOn } ? self.host.now() : nil
        let next = self.contents.withLock { contents -> Next in
            guard contents.number == number, !contents.state.isOver else { return .wait }
            if let now { contents.watch.progressed(at: now) }
            switch self.host.followsRedirects ? contents.redirects.received(event) : .answer {
            case .answer: contents.answer.received(event)
            case .redirect: return .wait
            case .failed(let failure): contents.answer.received(.failed(failure))
            case .ended(let response, let next):
                let next = self.host.cookies?.added(to: next) ?? next
                if self.host.decideRedirect != nil { return .ask(response, next) }
                if !contents.isAsking { return .run(next) }
                contents.next = next
                return .wait
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

    /// The delegate accepts the redirect itself as the response.
    private func stay(_ response: HTTPSession.Response) {
        self.answer { redirects in [.head(response)] + redirects.body.map { .chunk($0) } + [.end] }
    }

    private func fail(_ failure: TransportFailure) { self.answer { _ in [.failed(failure)] } }

    /// Answers with events that did not come from the transport.
    private func answer(_ events: (LoadRedirects) -> [TransportEvent]) {
        let comesBack = self.contents.withLock { contents in
            guard !contents.state.isOver else { return false }
            for event in events(contents.redirects) { contents.answer.received(event) }
            return contents.state.answerArrived() == .comeBack
        }
        if comesBack { self.host.comeBack() }
    }

    // MARK: - Time

    private func watch() {
        let now = self.host.now()
        self.contents.withLock { $0.watch.begins(at: now) }
        self.look()
    }

    private func look() {
        let now = self.host.now()
        let decision = self.contents.withLock { contents -> LoadTimeLimits.Decision? in
            guard !contents.state.isOver, !contents.answer.isEnded else { return nil }
            return contents.watch.decide(at: now, self.host.limits)
        }
        switch decision {
        case nil: return
        case .wait(let duration): self.host.timer(duration) { [weak self] in self?.look() }
        case .fail(let reason):
            let failure = TransportFailure(
                .network(.timeout), "\(reason): raise the session's timeouts, or find out what delays the response")
            self.fail(failure)
            self.giveUp(dueTo: failure)
        }
    }
}

/// The interface of a load to the task that it answers and to its `URLSession`.
struct LoadHost: Sendable {
    /// Asks the delegate of the task about a redirect; deciding on nil accepts the redirect itself as the response.
    typealias RedirectDecision =
        @Sendable (
            _ response: HTTPSession.Response, _ proposed: TransportRequest, _ decide: @escaping @Sendable (TransportRequest?) -> Void
        ) -> Void

    /// Makes URLSession call the load again on a thread where responses may be delivered.
    var comeBack: @Sendable () -> Void
    /// Whether the load follows redirects itself, because the platform's URLSession cannot be told about them.
    var followsRedirects = true
    /// Nil if there is no delegate to ask: redirects are then followed.
    var decideRedirect: RedirectDecision?
    /// Reports how many bytes of the body have been sent.
    var sent: @Sendable (_ count: Int64, _ total: Int64) -> Void = { _, _ in }
    var cookies: LoadCookies?
    /// Whether pieces of the body are delivered as they arrive. Called on URLSession's thread, and only if the result matters.
    var takesPieces: @Sendable () -> Bool = { false }
    var limits = LoadTimeLimits()
    /// Calls after this time.
    var timer: @Sendable (_ after: Duration, _ call: @escaping @Sendable () -> Void) -> Void
    /// A monotonic clock.
    var now: @Sendable () -> Duration
    /// Runs work that must not run on URLSession's thread.
    var elsewhere: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
}

/// Where the request of a load comes from.
enum LoadSource: Sendable {
    /// Known when the load is started.
    case ready(TransportRequest)
    /// Known later: its body has to be read first, or the transport must not be started on URLSession's thread.
    case later(@Sendable (_ done: @escaping @Sendable (Result<Made, TransportFailure>) -> Void) -> Void)

    struct Made: Sendable {
        var request: TransportRequest
        /// Owns the file of a body that was too large for memory.
        var file: TemporaryFile?
    }
}
