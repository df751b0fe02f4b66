internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// How long an answer may take; URLSession does not apply its own limits to the loads of others on Linux.
struct LoadTimeLimits: Sendable, Hashable {
    enum Decision: Sendable, Hashable {
        case wait(Duration)
        /// What was waited for, and how long.
        case fail(String)
    }

    /// Between two signs of life.
    var idle: Duration = .seconds(60)
    /// As a whole.
    var total: Duration = .seconds(7 * 24 * 3600)

    init() {}

    /// - Parameter request: seconds. 60 is what a request has that was given no limit: then that of the session counts.
    init(request: TimeInterval, configuration: URLSessionConfiguration) {
        self.idle = Self.duration(request == 60 ? configuration.timeoutIntervalForRequest : request) ?? self.idle
        self.total = Self.duration(configuration.timeoutIntervalForResource) ?? self.total
    }

    /// Nil for what is no length of time.
    private static func duration(_ seconds: TimeInterval) -> Duration? {
        guard seconds > 0 else { return nil }
        // Some thirty years; more is as good as never, and not every number of seconds is a duration.
        return .seconds(min(seconds, 1e9))
    }

    /// - Parameters:
    ///   - now: since the load has begun.
    ///   - lastSign: since the load has begun.
    func decide(now: Duration, lastSign: Duration) -> Decision {
        if now >= self.total { return .fail("the answer took longer than \(Self.text(self.total)) as a whole") }
        if now - lastSign >= self.idle { return .fail("nothing of the answer came for \(Self.text(self.idle))") }
        return .wait(min(self.total - now, self.idle - (now - lastSign)))
    }

    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
