internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Tracks one load of a foreign `URLSession`: when its exchange starts and when its response may be delivered. Ensures that the response
/// is delivered only once.
///
/// Knows calls, never threads: the caller knows where a response may be delivered. URLSession starts a load again after each resume.
struct LoadState: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case start
        /// Deliver what has arrived, in this call.
        case deliver
        /// Make URLSession call the load again where responses may be delivered.
        case comeBack
        case cancel
        case wait
    }

    private enum Phase: Hashable {
        case idle
        /// The exchange is being started; the response may be delivered in the same call.
        case starting
        case waiting(hasAsked: Bool)
        case finished
        case stopped
    }

    private var phase = Phase.idle

    var isOver: Bool { self.phase == .finished || self.phase == .stopped }

    /// URLSession has started the load, for the first time or after its user or the adapter suspended it.
    mutating func loadingStarted() -> Action {
        switch self.phase {
        case .idle:
            self.phase = .starting
            return .start
        case .waiting:
            self.phase = .waiting(hasAsked: false)
            return .deliver
        case .starting, .finished, .stopped: return .wait
        }
    }

    /// The exchange was started; the first call is about to return.
    mutating func exchangeStarted() -> Action {
        guard self.phase == .starting else { return .wait }
        self.phase = .waiting(hasAsked: false)
        return .deliver
    }

    /// There is something to deliver.
    mutating func answerArrived() -> Action {
        guard self.phase == .waiting(hasAsked: false) else { return .wait }
        self.phase = .waiting(hasAsked: true)
        return .comeBack
    }

    /// The end of the response was delivered.
    mutating func finished() {
        if !self.isOver { self.phase = .finished }
    }

    /// URLSession has stopped the load: its task was cancelled, or was suspended and may be resumed.
    mutating func loadingStopped(isCancelled: Bool) -> Action {
        guard isCancelled, !self.isOver else { return .wait }
        self.phase = .stopped
        return .cancel
    }
}

/// When a load began, and when part of its response last arrived, by one clock.
///
/// Off until `begins`: a synchronous response is not timed.
struct LoadWatch: Sendable {
    private var begin: Duration?
    private var lastProgress: Duration = .zero

    var isOn: Bool { self.begin != nil }

    mutating func begins(at now: Duration) { (self.begin, self.lastProgress) = (now, now) }

    /// Part of the response has arrived. Calls may be out of order.
    mutating func progressed(at now: Duration) { self.lastProgress = max(now, self.lastProgress) }

    /// Nil if it is off.
    func decide(at now: Duration, _ limits: LoadTimeLimits) -> LoadTimeLimits.Decision? {
        self.begin.map { limits.decide(now: now - $0, lastProgress: self.lastProgress - $0) }
    }
}

/// How long a response may take. On Linux, URLSession does not apply its own limits to custom protocols.
struct LoadTimeLimits: Sendable, Hashable {
    enum Decision: Sendable, Hashable {
        case wait(Duration)
        /// A sentence that names the exceeded limit.
        case fail(String)
    }

    /// Between two events.
    var idle: Duration = .seconds(60)
    /// For the whole response.
    var total: Duration = .seconds(7 * 24 * 3600)

    init() {}

    /// - Parameter request: seconds. 60 is the default of a request: the session's limit then applies.
    init(request: TimeInterval, configuration: URLSessionConfiguration) {
        self.idle = Self.duration(request == 60 ? configuration.timeoutIntervalForRequest : request) ?? self.idle
        self.total = Self.duration(configuration.timeoutIntervalForResource) ?? self.total
    }

    /// Nil if it is not positive.
    private static func duration(_ seconds: TimeInterval) -> Duration? {
        guard seconds > 0 else { return nil }
        // Limited to about thirty years, because not every number of seconds fits a Duration.
        return .seconds(min(seconds, 1e9))
    }

    /// - Parameters:
    ///   - now: the time since the load began.
    ///   - lastProgress: the time from the beginning of the load until its last progress.
    func decide(now: Duration, lastProgress: Duration) -> Decision {
        if now >= self.total { return .fail("the whole response took longer than \(Self.text(self.total))") }
        if now - lastProgress >= self.idle { return .fail("no part of the response arrived for \(Self.text(self.idle))") }
        return .wait(min(self.total - now, self.idle - (now - lastProgress)))
    }

    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
