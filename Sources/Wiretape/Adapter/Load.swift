internal import CassetteModel
internal import CassetteStore
internal import Foundation
internal import TapeBytes

/// One request of a session of others, from its first call until its answer is given.
///
/// Starts the exchange, follows redirects where the system cannot, keeps what comes until it may be given, and gives up when it takes too
/// long. Never calls URLSession: whoever owns the load makes the calls that it hands out, where they may be made.
final class Load: Sendable {
    private struct Contents: Sendable {
        var state = LoadState()
        var answer = AnswerAssembly()
        var exchange: (any TransportTask)?
        var file: TemporaryFile?
        /// Counts the exchanges: what an earlier one still says is not heard.
        var number = 0
        /// The transport is being asked.
        var isAsking = false
        var redirects = LoadRedirects()
        /// A redirect that has come while the transport was being asked.
        var next: TransportRequest?
        var watch = LoadWatch()
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
    func started(_ source: () throws(TransportFailure) -> LoadSource) -> [AnswerAssembly.Call] {
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
        self.contents.withLock { $0.state.loadingStarted() == .deliver ? Self.take(&$0) : [] }
    }

    /// URLSession has stopped the load.
    func stopped(isCancelled: Bool) {
        if self.contents.withLock({ $0.state.loadingStopped(isCancelled: isCancelled) == .cancel }) { self.giveUp() }
    }

    private func giveUp() {
        let exchange = self.contents.withLock { contents in
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
        // Nothing is armed for an answer that is there already.
        if self.contents.withLock({ !$0.answer.isEnded && !$0.watch.isOn }) { self.watch() }
    }

    /// Asks the transport, and again for each redirect that has come by the time it returns.
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
                // Whole bodies are kept in memory: URLSession does that too, and there is nobody to slow down.
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
        enum Next { case comeBack, ask(HTTPResponse, TransportRequest), run(TransportRequest), wait }
        // The clock is not looked at for an answer that is there at once.
        let now = self.contents.withLock { $0.watch.isOn } ? self.host.now() : nil
        let next = self.contents.withLock { contents -> Next in
            guard contents.number == number, !contents.state.isOver else { return .wait }
            if let now { contents.watch.signed(at: now) }
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

    /// The delegate takes the redirect itself for the answer.
    private func stay(_ response: HTTPResponse) {
        self.answer { redirects in [.head(response)] + redirects.body.map { .chunk($0) } + [.end] }
    }

    private func fail(_ failure: TransportFailure) { self.answer { _ in [.failed(failure)] } }

    /// Answers with what the transport has not said.
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
            self.fail(TransportFailure(.network(.timeout), "\(reason): raise the session's time limits, or see what holds it up"))
            self.giveUp()
        }
    }
}

/// Since when a load is timed, and when something of its answer came last; times are those of one clock.
///
/// Off until it begins: nothing is timed for an answer that is there at once.
struct LoadWatch: Sendable {
    private var begin: Duration?
    private var lastSign: Duration = .zero

    var isOn: Bool { self.begin != nil }

    mutating func begins(at now: Duration) { (self.begin, self.lastSign) = (now, now) }

    /// Something has come. Who looked at the clock first may say so last.
    mutating func signed(at now: Duration) { self.lastSign = max(now, self.lastSign) }

    /// Nil while it is off.
    func decide(at now: Duration, _ limits: LoadTimeLimits) -> LoadTimeLimits.Decision? {
        self.begin.map { limits.decide(now: now - $0, lastSign: self.lastSign - $0) }
    }
}

/// Tells the redirects of one load from its answer.
///
/// Knows events, never exchanges: whether the next request goes out is for others to say.
struct LoadRedirects: Sendable {
    enum Finding: Sendable {
        /// The event is the answer's.
        case answer
        /// The event is the redirect's, which has not ended.
        case redirect
        /// All of the redirect has come.
        case ended(HTTPResponse, next: TransportRequest)
        case failed(TransportFailure)
    }

    /// What the answer that redirects had for a body, for a delegate that wants it.
    private(set) var body: [Data] = []
    private var request: TransportRequest?
    private var hops = 0
    private var redirect: (response: HTTPResponse, next: TransportRequest)?

    /// A request goes out: the first, or the next.
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
        case .refuse(let error): return .failed(TransportFailure(.network(.malformed), error.message, underlying: error))
        }
    }
}
