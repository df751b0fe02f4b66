internal import Foundation

/// Everything about a request that changes, behind its one lock.
struct RequestData: Sendable {
    var machine = RequestMachine()
    var options = RequestOptions()
    /// Since the start.
    var metrics = MetricsState(startTime: Date())
    var start = Duration.zero
    var watch: TimeoutWatch?
    /// Sleeps until a limit is exceeded.
    var watchTask: Task<Void, Never>?
    /// Adapters, redirect handlers or retriers at work.
    var work: Task<Void, Never>?

    var draft: RequestDraft?
    /// The request that is out, or was last.
    var sent: TransportRequest?
    /// The same without the cookies of the session.
    var bare: TransportRequest?
    /// Adapted, while the request is suspended.
    var held: TransportRequest?
    /// Of the current exchange; nil before `start` has returned.
    var task: (any TransportTask)?
    /// The transport was told to wait.
    var isPaused = false
    /// It is to go on as soon as its task is known.
    var isDemandDue = false

    var response: HTTPResponse?
    /// Of the answer, or of the redirect that is being looked at.
    var body = Data()
    var trailers = HTTPHeaders()
    var isRedirect = false
    /// Whether octets have left for a reader, so that the request cannot be sent again unseen.
    var isDelivered = false
    var redirects: [RedirectHop] = []
    var earlier: [RequestAttempt] = []

    var upload = TransferCount()
    var download = TransferCount()

    var outcome: RequestOutcome?
    var waiters: [CheckedContinuation<RequestOutcome, Never>] = []
    var handlers = HandlerLine()

    /// Forgets what the last exchange brought.
    mutating func begin(_ request: TransportRequest, at time: Duration) {
        self.sent = request
        self.task = nil
        self.isPaused = false
        self.isDemandDue = false
        self.response = nil
        self.body = Data()
        self.trailers = HTTPHeaders()
        self.isRedirect = false
        self.note(.started(request), at: time)
        self.watch?.somethingHappened(at: time)
    }

    /// For the metrics.
    mutating func note(_ event: SessionEvent.Kind, at time: Duration) { self.metrics.happened(event, at: time - self.start) }

    subscript(direction: TransferDirection) -> TransferCount {
        get { direction == .upload ? self.upload : self.download }
        set { if direction == .upload { self.upload = newValue } else { self.download = newValue } }
    }

    func attempt(_ error: WiretapeError?) -> RequestAttempt {
        RequestAttempt(request: self.sent, response: self.response, redirects: self.redirects, error: error)
    }
}

/// What callers chain to a request before it starts.
struct RequestOptions: Sendable {
    var validations: [Validation] = []
    var redirectHandler: (any RedirectHandler)?
    var dispositions: [@Sendable (HTTPResponse) -> ResponseDisposition] = []
    var authorization: HTTPHeader?
}

extension RequestData {
    /// Makes the outcome and lets go of everything that was held for the exchange.
    mutating func end(id: UUID, error: WiretapeError?, file: URL?, now: Duration) -> RequestEnding {
        self.note(.finished(error: error), at: now)
        let outcome = RequestOutcome(
            id: id, attempts: self.earlier + [self.attempt(error)], data: self.body, fileURL: file, trailers: self.trailers,
            metrics: self.metrics.metrics, start: self.start, error: error)
        self.upload.finish(whole: error == nil)
        self.download.finish(whole: error == nil)
        let ending = RequestEnding(
            outcome: outcome, waiters: self.waiters, task: self.task, work: self.work, watch: self.watchTask,
            progress: [self.upload, self.download].filter(\.isObserved))
        self.outcome = outcome
        self.waiters = []
        self.task = nil
        self.work = nil
        self.watchTask = nil
        self.held = nil
        self.draft?.spool = nil
        self.handlers.open()
        return ending
    }
}
