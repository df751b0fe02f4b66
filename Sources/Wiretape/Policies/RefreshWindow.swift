/// How many refreshes in how long a time are sensible; more would be a storm.
public struct RefreshWindow: Sendable, Hashable {
    public var interval: Duration
    /// Refreshes within the interval, failed ones too.
    public var maximumAttempts: Int

    public init(interval: Duration = .seconds(30), maximumAttempts: Int = 5) {
        self.interval = interval
        self.maximumAttempts = maximumAttempts
    }

    var error: AuthenticationError {
        AuthenticationError(
            .excessiveRefresh,
            "the credential was refreshed \(self.maximumAttempts) times within \(self.interval.secondsText) s: see why the server refuses each new one, or widen the RefreshWindow"
        )
    }
}
