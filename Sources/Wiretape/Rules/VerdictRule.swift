internal import TapeBytes
internal import TrafficRules

/// That the client of a test is judged by what it does with answers that fail, and from what on something is named.
///
///     @Test(.cassette("pay", modify: [.fault(.status(503), first: 1)], verdict: .client)) func paysAgain() async throws { … }
///
/// As `--verdict client` of the command line: docs/traffic-rules.md lists what is named. Times are those of the session's clock.
public struct VerdictRule: Sendable, Hashable {
    /// How much too early a request may come after `Retry-After`.
    public var retryAfterTolerance: Duration
    /// Retries that follow each other faster have no backoff.
    public var backoffGap: Duration
    /// So many such retries in a row, from 1.
    public var backoffRetries: Int
    /// More failing attempts of one request in `stormTime` are a storm; from 2.
    public var stormCount: Int
    public var stormTime: Duration
    /// A later request is one of its own, not a retry.
    public var retryWindow: Duration
    /// How long a stalled answer may be waited for.
    public var stallWait: Duration

    /// With the thresholds of the command line.
    public static let client = Self.client()

    public static func client(
        retryAfterTolerance: Duration = .milliseconds(100), backoffGap: Duration = .milliseconds(50), backoffRetries: Int = 2,
        stormCount: Int = 10, stormTime: Duration = .seconds(10), retryWindow: Duration = .seconds(60), stallWait: Duration = .seconds(60)
    ) -> Self {
        Self(
            retryAfterTolerance: retryAfterTolerance, backoffGap: backoffGap, backoffRetries: backoffRetries, stormCount: stormCount,
            stormTime: stormTime, retryWindow: retryWindow, stallWait: stallWait)
    }

    /// Throws `SettingSyntaxError` for a threshold that is out of its range.
    var limits: ClientVerdict.Limits {
        get throws(SettingSyntaxError) {
            let times = [
                ("retryAfterTolerance", self.retryAfterTolerance), ("backoffGap", self.backoffGap), ("stormTime", self.stormTime),
                ("retryWindow", self.retryWindow), ("stallWait", self.stallWait),
            ]
            if let (name, time) = times.first(where: { $0.1 < .zero }) {
                throw SettingSyntaxError("\"\(name)\" of \"verdict\" is \(time): use a time that is not below zero")
            }
            guard self.backoffRetries >= 1 else {
                throw SettingSyntaxError("\"backoffRetries\" of \"verdict\" is \(self.backoffRetries): use a number from 1 on")
            }
            guard self.stormCount >= 2 else {
                throw SettingSyntaxError("\"stormCount\" of \"verdict\" is \(self.stormCount): use a number from 2 on")
            }
            var limits = ClientVerdict.Limits()
            limits.retryAfterTolerance = self.retryAfterTolerance
            limits.backoffGap = self.backoffGap
            limits.backoffRetries = self.backoffRetries
            limits.stormCount = self.stormCount
            limits.stormTime = self.stormTime
            limits.retryWindow = self.retryWindow
            limits.stallWait = self.stallWait
            return limits
        }
    }
}

/// Something that a client did wrong with an answer that failed.
public struct ClientFinding: Sendable, Hashable {
    /// A kind of finding; more kinds may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// As in reports, for example `no-retry`.
        public let description: String

        /// A request came before the time that `Retry-After` had asked for.
        public static let retryAfterIgnored = Self(description: "retry-after-ignored")
        /// Retries followed each other at once.
        public static let noBackoff = Self(description: "no-backoff")
        /// One request failed and was sent again very often in a short time.
        public static let storm = Self(description: "storm")
        /// A request that may have had an effect, or that was refused for good, was sent again.
        public static let unsafeRetry = Self(description: "unsafe-retry")
        /// A fault that passes was not met by another attempt.
        public static let noRetry = Self(description: "no-retry")
        /// The client waited for an answer that had stalled.
        public static let endlessWait = Self(description: "endless-wait")
    }

    public let kind: Kind
    /// False if the attempts show it, but there may be another reason.
    public let isSure: Bool
    /// What happened, with its times.
    public let text: String
    /// For reports.
    package let line: String

    init(_ finding: ClientVerdict.Finding) {
        self.kind = Kind(description: finding.kind.rawValue)
        self.isSure = finding.certainty == .sure
        self.text = finding.text
        self.line = RuleLines.line(of: finding)
    }
}
