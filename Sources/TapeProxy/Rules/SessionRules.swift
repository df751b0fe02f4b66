internal import NIOCore
internal import TapeBytes
internal import TrafficRules

/// The traffic rules of one session, with what its event loops share: the time since the run began, and the buckets that limit rates over
/// several requests.
final class SessionRules: Sendable {
    private struct BucketKey: Hashable {
        enum Owner: Hashable {
            /// The number of the client connection.
            case connection(Int)
            case host(String)
            case session
        }

        let rule: Int
        let owner: Owner
        let direction: Direction
    }

    enum Direction: Hashable {
        /// From the client to the origin.
        case up
        case down
    }

    /// Hosts with a bucket of their own; more share one.
    private static let hostLimit = 10_000

    let engine: RuleEngine
    /// Nil if nobody asks for a verdict on the client.
    let attempts: AttemptLog?
    /// Where paused messages wait; nil if nobody can look at them.
    let desk: PauseDesk?
    private let start: NIODeadline
    private let buckets = Guarded(Buckets())

    private struct Buckets {
        /// By the numbers of the client connections.
        var ofConnections: [Int: [BucketKey: TokenBucket]] = [:]
        var others: [BucketKey: TokenBucket] = [:]
    }

    init(_ engine: RuleEngine, judgesClient: Bool = false, desk: PauseDesk? = nil, start: NIODeadline = .now()) {
        self.engine = engine
        self.attempts = judgesClient ? AttemptLog() : nil
        self.desk = desk
        self.start = start
    }

    /// Every exchange runs through the rules: there are some, or somebody asks for a verdict on the client.
    var isActive: Bool { self.attempts != nil || !self.engine.isEmpty }

    /// The time since the session began.
    func elapsed(at now: NIODeadline) -> Duration { .nanoseconds(max(0, (now - self.start).nanoseconds)) }

    /// What the client did with answers that failed; nil if nobody asks.
    ///
    /// - Parameter exitCode: of the client's process; nil if the run started none.
    func verdict(exitCode: Int32?, limits: ClientVerdict.Limits) -> [ClientVerdict.Finding]? {
        guard let attempts else { return nil }
        let run = ClientVerdict.Run(end: self.elapsed(at: .now()), exitCode: exitCode.map { Int($0) })
        return ClientVerdict(attempts.attempts, run: run, limits: limits, shownURL: self.engine.shown).findings
    }

    /// What the rules do to a request; nil if no rule applies.
    func plan(for request: RequestFacts, at now: NIODeadline) -> ExchangePlan? {
        self.engine.plan(for: request, now: self.elapsed(at: now))
    }

    /// The alert that a rule has for the TLS of a tunnel; nil if none has.
    func alert(host: String, port: Int, at now: NIODeadline) -> UInt8? {
        guard !self.engine.isEmpty else { return nil }
        let authority = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let facts = RequestFacts(method: "CONNECT", url: "https://\(authority)/")
        guard case .tls(let alert)? = self.engine.tlsFault(for: facts, now: self.elapsed(at: now))?.kind else { return nil }
        return alert
    }

    /// The buckets that limit one direction of an exchange.
    ///
    /// - Parameter client: the number of its client connection.
    func buckets(of pace: Pace?, _ direction: Direction, client: Int) -> [TokenBucket] {
        guard let pace else { return [] }
        let rates = direction == .up ? pace.up : pace.down
        return rates.map { rate in
            let owner: BucketKey.Owner
            switch rate.scope {
            case .request: return TokenBucket(rate: rate.bytesPerSecond, burst: rate.burst)
            case .connection: owner = .connection(client)
            case .host(let name): owner = .host(name)
            case .session: owner = .session
            }
            return self.bucket(BucketKey(rule: rate.rule, owner: owner, direction: direction), rate)
        }
    }

    private func bucket(_ key: BucketKey, _ rate: TokenRate) -> TokenBucket {
        self.buckets.withLock { buckets in
            if case .connection(let client) = key.owner {
                return Self.bucket(key, rate, in: &buckets.ofConnections[client, default: [:]])
            }
            guard case .host = key.owner, buckets.others.count >= Self.hostLimit, buckets.others[key] == nil else {
                return Self.bucket(key, rate, in: &buckets.others)
            }
            return Self.bucket(BucketKey(rule: key.rule, owner: .session, direction: key.direction), rate, in: &buckets.others)
        }
    }

    private static func bucket(_ key: BucketKey, _ rate: TokenRate, in buckets: inout [BucketKey: TokenBucket]) -> TokenBucket {
        if let bucket = buckets[key], bucket.rate == rate.bytesPerSecond { return bucket }
        let bucket = TokenBucket(rate: rate.bytesPerSecond, burst: rate.burst)
        buckets[key] = bucket
        return bucket
    }

    /// A client connection has closed: nothing waits in its buckets.
    func clientClosed(_ client: Int, at now: NIODeadline) {
        self.buckets.withLock { $0.ofConnections[client] = nil }
        self.attempts?.connectionClosed(client, at: self.elapsed(at: now))
    }
}
