internal import CassetteModel
internal import Foundation
internal import TapeBytes

extension HTTPSession {
    /// How long a request may take, measured by the session's clock with sub-second precision.
    public struct Timeouts: Sendable, Hashable {
        /// The limit of each wait for the head, for more bytes, or for the body to be sent. Nil for no limit.
        ///
        /// A `URLRequest` overrides it if its `timeoutInterval` is not Foundation's default of 60 seconds. Does not run while the request is
        /// suspended or its reader does not read.
        public var idle: Duration?
        /// The limit from the start of the request to the last byte of its response, including redirects, retries and their waits. Nil for
        /// no limit.
        public var total: Duration?

        public init(idle: Duration? = .seconds(60), total: Duration? = nil) {
            self.idle = idle
            self.total = total
        }
    }
}

/// Decides when a request has taken too long.
///
/// Times are durations since any fixed moment. Knows no clock: it is given the time and returns when to check again.
struct TimeoutWatch: Sendable {
    enum Limit: Sendable, Hashable {
        case idle(Duration)
        case total(Duration)
    }

    enum Verdict: Sendable, Hashable {
        case exceeded(Limit)
        /// No limit is exceeded before that time.
        case look(at: Duration)
        /// No limit applies.
        case never
    }

    var timeouts: HTTPSession.Timeouts
    private let start: Duration
    private var last: Duration

    init(_ timeouts: HTTPSession.Timeouts, start: Duration) {
        self.timeouts = timeouts
        self.start = start
        self.last = start
    }

    mutating func somethingHappened(at time: Duration) { self.last = time }

    /// - Parameter isWaiting: whether the request waits for the other side.
    func verdict(at now: Duration, isWaiting: Bool) -> Verdict {
        var next: Duration?
        if let total = self.timeouts.total {
            guard now < self.start + total else { return .exceeded(.total(total)) }
            next = self.start + total
        }
        if let idle = self.timeouts.idle {
            let from = isWaiting ? self.last : now
            guard now < from + idle else { return .exceeded(.idle(idle)) }
            next = min(next ?? from + idle, from + idle)
        }
        return next.map { .look(at: $0) } ?? .never
    }
}

extension HTTPSession.Request {
    /// Enforces the request's timeouts from now to its end, with one sleeping task, or none if there is no limit.
    func armWatch() {
        guard !self.core.clock.isImmediate else { return }
        self.data.withLock { data in
            guard data.outcome == nil, data.watchTask == nil, let watch = data.watch else { return }
            guard watch.timeouts.idle != nil || watch.timeouts.total != nil else { return }
            data.watchTask = Task { [weak self, clock = self.core.clock] in
                while let delay = self?.look() {
                    guard (try? await clock.sleep(for: delay)) != nil else { return }
                }
            }
        }
    }

    /// Some clocks crash on a deadline beyond their range.
    private static let longestSleep = Duration.seconds(86_400)

    /// - Returns: how long to sleep; nil if nothing is left to watch.
    private func look() -> Duration? {
        let now = self.core.clock.elapsed
        let (verdict, phase) = self.data.withLock { data -> (TimeoutWatch.Verdict, String) in
            guard data.outcome == nil, let watch = data.watch else { return (.never, "") }
            let isWaiting = data.machine.isWaiting && !data.isPaused
            return (watch.verdict(at: now, isWaiting: isWaiting), data.phase)
        }
        switch verdict {
        case .never: return nil
        case .look(let time): return min(time - now, Self.longestSleep)
        case .exceeded(let limit):
            self.exceeded(limit, while: phase)
            return self.data.withLock { $0.outcome == nil } ? .zero : nil
        }
    }

    /// The limits have changed: the sleeping task may sleep too long.
    func rearmWatch() {
        let sleeper = self.data.withLock { data in
            defer { data.watchTask = nil }
            return data.watchTask
        }
        guard let sleeper else { return }
        sleeper.cancel()
        self.armWatch()
    }

    private func exceeded(_ limit: TimeoutWatch.Limit, while phase: String) {
        let (time, advice, isTotal) =
            switch limit {
            case .idle(let time): (time, "raise timeouts.idle of the session's configuration, or check what the server does", false)
            case .total(let time): (time, "raise timeouts.total of the session's configuration, or find out what takes so long", true)
            }
        let what = self.data.withLock { $0.sent ?? $0.draft?.request }.map { "\($0.method) \"\(LogURL.text($0.url))\"" } ?? "the request"
        let failure = TransportFailure(
            .network(.timeout), "\(what) timed out after \(time) \(isTotal ? "in total" : "without progress"), \(phase): \(advice)")
        let error = WiretapeError(failure)
        self.abandon(dueTo: failure)
        // A retry would take even longer.
        if isTotal { self.finish(error) } else { self.retryOrFinish(error) }
    }
}

extension RequestData {
    /// Describes what the request is waiting for.
    fileprivate var phase: String {
        guard self.machine.isWaiting else { return "while adapters, handlers or retriers were running" }
        guard let response = self.response else {
            let upload = self.upload.progress
            guard let all = upload.totalUnitCount, upload.completedUnitCount > 0, upload.completedUnitCount < all else {
                return "waiting for the response head"
            }
            return "sending the body, \(upload.completedUnitCount) of \(all) bytes so far"
        }
        let all = self.download.progress.totalUnitCount.map { " of \($0)" } ?? ""
        return
            "waiting for the rest of the response with status \(response.status), \(self.download.progress.completedUnitCount)\(all) bytes so far"
    }
}
