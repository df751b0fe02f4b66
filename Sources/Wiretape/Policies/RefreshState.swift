public import TapeBytes
internal import Foundation

/// The rule of one credential: which requests may use it, which wait for a new one, and when it is refreshed.
///
/// Knows no tasks and no clock: waiters are IDs, and the caller reports each event with its time.
struct RefreshState<Credential: Sendable>: Sendable {
    enum Answer: Sendable {
        case use(Credential)
        /// A refresh is running; the waiter gets its result.
        case wait
        /// Refresh this credential and report the result with that number; the waiter gets it.
        case refresh(Credential, number: Int)
        case fail(HTTPSession.AuthenticationError)
    }

    private(set) var credential: Credential?
    /// The generation of the credential: events about an older generation are ignored.
    private(set) var generation = 0
    private let window: HTTPSession.RefreshWindow?
    /// In order of arrival.
    private var waiters: [UUID] = []
    /// The number of the running refresh.
    private var running: Int?
    private var lastNumber = 0
    /// When the refreshes within the window began.
    private var starts: [Duration] = []
    /// Requests that were sent again because they seemed to carry an older credential.
    private var retriedAsStale: Set<UUID> = []

    /// How many requests are remembered as stale. The refusal of any further request begins a refresh.
    static var staleLimit: Int { 10_000 }

    init(credential: Credential?, window: HTTPSession.RefreshWindow?) {
        self.credential = credential
        self.window = window
    }

    /// A request is about to be sent.
    ///
    /// - Parameters:
    ///   - requiresRefresh: as reported by the credential of `generation`.
    mutating func wants(_ waiter: UUID, requiresRefresh: Bool, of generation: Int, at time: Duration) -> Answer {
        if self.running != nil {
            self.waiters.append(waiter)
            return .wait
        }
        guard let credential = self.credential else { return .fail(Self.missing) }
        return requiresRefresh && generation == self.generation ? self.begin(credential, for: waiter, at: time) : .use(credential)
    }

    /// The server has refused a request.
    ///
    /// - Parameters:
    ///   - request: the same ID for all attempts of one request.
    ///   - isCurrent: whether it carried the credential of `generation`.
    mutating func wasRefused(_ request: UUID, waiter: UUID, isCurrent: Bool, of generation: Int, at time: Duration) -> Answer {
        guard let credential = self.credential else { return .fail(Self.missing) }
        if !isCurrent || generation != self.generation, self.retriedAsStale.count < Self.staleLimit,
            self.retriedAsStale.insert(request).inserted
        {
            return .use(credential)
        }
        // It carried the current credential, or lacks it for the second time, since a redirect to another origin removes credentials.
        // Sending it again unchanged would loop forever.
        if self.running != nil {
            self.waiters.append(waiter)
            return .wait
        }
        return self.begin(credential, for: waiter, at: time)
    }

    /// A refresh has returned a credential.
    ///
    /// - Returns: the waiters to resume; none if another credential was set meanwhile.
    mutating func refreshed(_ number: Int, to credential: Credential) -> [UUID] {
        guard self.running == number else { return [] }
        self.credential = credential
        self.generation += 1
        return self.end()
    }

    /// A refresh has failed.
    ///
    /// - Returns: the waiters to resume.
    mutating func refreshFailed(_ number: Int) -> [UUID] {
        guard self.running == number else { return [] }
        return self.end()
    }

    /// The credential was set or removed from outside: a login, a logout. The result of a running refresh is ignored.
    ///
    /// - Returns: the waiters to resume.
    mutating func set(_ credential: Credential?) -> [UUID] {
        self.credential = credential
        self.generation += 1
        return self.end()
    }

    /// A request was cancelled while it waited; the refresh goes on for the others.
    mutating func gaveUp(_ waiter: UUID) { self.waiters.removeAll { $0 == waiter } }

    private mutating func begin(_ credential: Credential, for waiter: UUID, at time: Duration) -> Answer {
        if let window {
            self.starts.removeAll { $0 <= time - window.interval }
            guard self.starts.count < window.maximumAttempts else { return .fail(window.error) }
            self.starts.append(time)
        }
        self.lastNumber += 1
        self.running = self.lastNumber
        self.waiters.append(waiter)
        return .refresh(credential, number: self.lastNumber)
    }

    private mutating func end() -> [UUID] {
        self.running = nil
        self.retriedAsStale = []
        defer { self.waiters = [] }
        return self.waiters
    }

    static var missing: HTTPSession.AuthenticationError {
        HTTPSession.AuthenticationError(
            .missingCredential,
            "there is no credential for the request: set the credential of the AuthenticationInterceptor, for example after a login")
    }
}

extension HTTPSession {
    /// The most refreshes that may happen within an interval. Protects the server from a storm of refreshes.
    public struct RefreshWindow: Sendable, Hashable {
        public var interval: Duration
        /// Refreshes within the interval, including failed ones.
        public var maximumAttempts: Int

        public init(interval: Duration = .seconds(30), maximumAttempts: Int = 5) {
            self.interval = interval
            self.maximumAttempts = maximumAttempts
        }

        var error: AuthenticationError {
            AuthenticationError(
                .excessiveRefresh,
                "the credential was refreshed \(self.maximumAttempts) times within \(self.interval.secondsText) s: find out why the server refuses each new one, or widen the RefreshWindow"
            )
        }
    }

    /// Why a request could not be authenticated, apart from a failed refresh.
    ///
    /// The message says what is missing or exceeded, and what to do next.
    public typealias AuthenticationError = CodedError<AuthenticationErrorCode>

    /// A kind of error; more kinds may be added.
    public struct AuthenticationErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case missingCredential, excessiveRefresh }

        private var value: Value

        /// There is no credential to apply.
        public static var missingCredential: Self { Self(value: .missingCredential) }
        /// More refreshes than the window allows: the server refuses each new credential, or issues expired ones.
        public static var excessiveRefresh: Self { Self(value: .excessiveRefresh) }

        public var description: String { "\(self.value)" }
    }
}
