internal import Foundation

/// Who may use the credential, who waits for a new one, and whether it is being refreshed.
///
/// Knows no tasks and no clock: requests are numbers that wait, and who reports an event says when it happened.
struct RefreshState<Credential: Sendable>: Sendable {
    enum Answer: Sendable {
        case use(Credential)
        /// A refresh is under way; the waiter is told its result.
        case wait
        /// Refresh this one, and report with that number; the waiter is told the result.
        case refresh(Credential, number: Int)
        case fail(AuthenticationError)
    }

    private(set) var credential: Credential?
    /// Of the credential: what was found out about an older one no longer holds.
    private(set) var generation = 0
    let window: RefreshWindow?
    /// In the order in which they came.
    private var waiters: [UUID] = []
    /// The number of the refresh under way.
    private var running: Int?
    private var lastNumber = 0
    /// When the refreshes within the window began.
    private var starts: [Duration] = []
    /// Requests that were sent again since they seemed to carry an older credential.
    private var retriedAsStale: Set<UUID> = []

    /// More are not remembered: there are only as many as requests under way.
    static var staleLimit: Int { 10_000 }

    init(credential: Credential?, window: RefreshWindow?) {
        self.credential = credential
        self.window = window
    }

    /// A request is about to go out.
    ///
    /// - Parameters:
    ///   - requiresRefresh: what the credential of a generation says of itself.
    ///   - generation: that generation.
    mutating func wants(_ waiter: UUID, requiresRefresh: Bool, of generation: Int, at time: Duration) -> Answer {
        if self.running != nil {
            self.waiters.append(waiter)
            return .wait
        }
        guard let credential = self.credential else { return .fail(Self.missing) }
        return requiresRefresh && generation == self.generation ? self.begin(credential, for: waiter, at: time) : .use(credential)
    }

    /// A request came back refused.
    ///
    /// - Parameters:
    ///   - request: the same for all attempts of one request.
    ///   - isCurrent: whether it carried the credential of a generation.
    ///   - generation: that generation.
    mutating func wasRefused(_ request: UUID, waiter: UUID, isCurrent: Bool, of generation: Int, at time: Duration) -> Answer {
        guard let credential = self.credential else { return .fail(Self.missing) }
        if !isCurrent || generation != self.generation, self.retriedAsStale.count < Self.staleLimit,
            self.retriedAsStale.insert(request).inserted
        {
            return .use(credential)
        }
        // With the credential of now, or again without it although it was adapted: a redirect to elsewhere takes credentials off. To
        // send it again as it is would have no end.
        if self.running != nil {
            self.waiters.append(waiter)
            return .wait
        }
        return self.begin(credential, for: waiter, at: time)
    }

    /// A refresh has brought a credential. Returns who is to be told; nobody where another credential was set meanwhile.
    mutating func refreshed(_ number: Int, to credential: Credential) -> [UUID] {
        guard self.running == number else { return [] }
        self.credential = credential
        self.generation += 1
        return self.end()
    }

    /// A refresh has failed. Returns who is to be told.
    mutating func refreshFailed(_ number: Int) -> [UUID] {
        guard self.running == number else { return [] }
        return self.end()
    }

    /// Somebody else has brought a credential, or taken it away: a login, a logout. A refresh under way no longer counts.
    ///
    /// - Returns: who is to be told.
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

    static var missing: AuthenticationError {
        AuthenticationError(
            .missingCredential,
            "there is no credential for the request: set that of the AuthenticationInterceptor, after a login for example")
    }
}
