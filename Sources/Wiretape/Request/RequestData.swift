internal import CassetteStore
internal import Foundation

/// The state of a request, guarded by its one lock.
struct RequestData: Sendable {
    var machine = RequestMachine()
    var options = Options()
    var metrics = RequestMetrics.State(startTime: Date())
    /// On the session's clock.
    var start = Duration.zero
    var watch: TimeoutWatch?
    /// Sleeps until the next limit.
    var watchTask: Task<Void, Never>?
    /// Runs adapters, redirect handlers or retriers.
    var work: Task<Void, Never>?

    var draft: RequestDraft?
    /// Keeps the file of a body that an adapter or a redirect handler has made.
    var spool: TemporaryFile?
    /// The request as last sent.
    var sent: TransportRequest?
    /// `sent` without the session's cookies.
    var bare: TransportRequest?
    /// Adapted but not sent, because the request is suspended.
    var held: TransportRequest?
    /// The transport's task of the current exchange; nil before `start` has returned.
    var task: (any TransportTask)?
    /// The transport was told to pause.
    var isPaused = false
    /// The transport has to resume as soon as its task is known.
    var isDemandDue = false

    var response: HTTPSession.Response?
    /// The body of the response, or of the current redirect.
    var body = Data()
    var trailers = HTTPSession.Headers()
    var isRedirect = false
    /// Whether bytes have been delivered to a file or a reader. A stream then cannot be sent again.
    var isDelivered = false
    var redirects: [HTTPSession.RedirectHop] = []
    var earlier: [HTTPSession.RequestAttempt] = []

    var upload = TransferCount()
    var download = TransferCount()

    var outcome: RequestOutcome?
    var waiters: [CheckedContinuation<RequestOutcome, Never>] = []
    var handlers = HandlerQueue()

    /// Resets the state of the last exchange for the next one.
    mutating func begin(_ request: TransportRequest, at time: Duration) {
        self.sent = request
        self.task = nil
        self.isPaused = false
        self.isDemandDue = false
        self.response = nil
        self.body = Data()
        self.trailers = HTTPSession.Headers()
        self.isRedirect = false
        self.note(.started(request), at: time)
        self.watch?.somethingHappened(at: time)
    }

    /// Adds an event to the metrics.
    mutating func note(_ event: HTTPSession.Event.Kind, at time: Duration) { self.metrics.happened(event, at: time - self.start) }

    subscript(direction: TransferCount.Direction) -> TransferCount {
        get { direction == .upload ? self.upload : self.download }
        set { if direction == .upload { self.upload = newValue } else { self.download = newValue } }
    }

    func attempt(_ error: WiretapeError?) -> HTTPSession.RequestAttempt {
        HTTPSession.RequestAttempt(request: self.sent, response: self.response, redirects: self.redirects, error: error)
    }

    /// Makes the outcome and releases everything held for the exchange.
    ///
    /// - Parameter resumption: makes the resume data of a download.
    mutating func end(
        id: UUID, error: WiretapeError?, file: URL?, resumption: (@Sendable () -> Data?)? = nil, now: Duration
    ) -> Ending {
        self.note(.finished(error: error), at: now)
        let outcome = RequestOutcome(
            id: id, attempts: self.earlier + [self.attempt(error)], data: self.body, fileURL: file, trailers: self.trailers,
            metrics: self.metrics.metrics, start: self.start, error: error, resumption: resumption)
        self.upload.finish(whole: error == nil)
        self.download.finish(whole: error == nil)
        let ending = Ending(
            outcome: outcome, waiters: self.waiters, task: self.task, work: self.work, watch: self.watchTask,
            progress: [self.upload, self.download].filter(\.isObserved))
        self.outcome = outcome
        self.waiters = []
        self.task = nil
        self.work = nil
        self.watchTask = nil
        self.held = nil
        self.draft?.spool = nil
        self.spool = nil
        self.handlers.open()
        return ending
    }
}

extension RequestData {
    /// Options that the caller sets before the request starts.
    struct Options: Sendable {
        var validations: [HTTPSession.Validation] = []
        var redirectHandler: (any HTTPSession.RedirectHandler)?
        var dispositions: [@Sendable (HTTPSession.Response) -> HTTPSession.Request.ResponseDisposition] = []
        var authorization: HTTPSession.Header?
        /// Whether the partial file of a download is wanted when it is cancelled.
        var keepsPart = false
        /// Called with each event of the request, on the thread where it happens.
        var observers: [@Sendable (HTTPSession.Event.Kind) -> Void] = []
    }

    /// The things to notify, resume and cancel when the request has ended.
    struct Ending: Sendable {
        var outcome: RequestOutcome
        var waiters: [CheckedContinuation<RequestOutcome, Never>]
        var task: (any TransportTask)?
        var work: Task<Void, Never>?
        var watch: Task<Void, Never>?
        var progress: [TransferCount]
    }
}

/// The handlers of one request, in the order in which they were added: each starts when the previous one has returned.
///
/// Runs nothing itself.
struct HandlerQueue: Sendable {
    typealias Handler = @Sendable (_ outcome: RequestOutcome, _ done: @escaping @Sendable () -> Void) -> Void

    private var waiting: [Handler] = []
    private var next = 0
    private var isOpen = false
    private var isRunning = false

    mutating func add(_ handler: @escaping Handler) { self.waiting.append(handler) }

    var canStart: Bool { self.isOpen && !self.isRunning && self.next < self.waiting.count }

    /// The request has ended: handlers may run.
    mutating func open() { self.isOpen = true }

    /// - Returns: the handler to run now; the caller reports its end with `handlerReturned`.
    mutating func start() -> Handler? {
        guard self.canStart else { return nil }
        self.isRunning = true
        defer { self.next += 1 }
        return self.waiting[self.next]
    }

    mutating func handlerReturned() {
        self.isRunning = false
        guard self.next == self.waiting.count else { return }
        // Releases what the handlers capture.
        self.waiting = []
        self.next = 0
    }
}
