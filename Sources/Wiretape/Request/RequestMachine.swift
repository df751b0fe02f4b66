/// Follows one request from its making to its end, over all its attempts and redirects.
///
/// Knows states and the numbers of exchanges; no octets, times or errors. An exchange is one request with its response on a transport.
struct RequestMachine: Sendable {
    /// What a `resume` is to do.
    enum Resumption: Sendable, Hashable {
        case nothing
        /// Make the request, which was not begun.
        case prepare
        /// Send what was ready while the request was suspended.
        case send
        /// Ask the transport for more.
        case demand
    }

    private enum Stage {
        case new
        /// Adapters, handlers or retriers are at work.
        case thinking
        /// Ready to go out, and suspended.
        case held
        case sending
        case over
    }

    private(set) var state: RequestState = .initialized
    private var stage: Stage = .new
    /// The number of the exchange that was sent last; 0 before the first.
    private(set) var exchange = 0
    /// Exchanges that were given up before their tasks were known.
    private var abandoned: Set<Int> = []

    mutating func resume() -> Resumption {
        guard self.state == .initialized || self.state == .suspended else { return .nothing }
        self.state = .resumed
        switch self.stage {
        case .new:
            self.stage = .thinking
            return .prepare
        case .held: return .send
        case .sending: return .demand
        case .thinking, .over: return .nothing
        }
    }

    /// - Returns: whether anything changed.
    mutating func suspend() -> Bool {
        guard self.state == .initialized || self.state == .resumed else { return false }
        self.state = .suspended
        return true
    }

    /// A request is ready to go out: the first, one after a redirect, or one more attempt.
    ///
    /// - Returns: the number of its exchange; nil where it is held or too late.
    mutating func send() -> Int? {
        guard self.stage == .thinking || self.stage == .held else { return nil }
        guard self.state != .suspended else {
            self.stage = .held
            return nil
        }
        self.stage = .sending
        self.exchange += 1
        return self.exchange
    }

    /// Whether the other side is to do something.
    var isWaiting: Bool { self.stage == .sending && self.state != .suspended }

    /// Whether events of that exchange count.
    func isCurrent(_ exchange: Int) -> Bool { self.stage == .sending && exchange == self.exchange }

    /// Whether that exchange was given up before its end: its task is to be cancelled.
    func isAbandoned(_ exchange: Int) -> Bool { self.abandoned.contains(exchange) }

    /// The transport has said its last word on the current exchange.
    mutating func exchangeEnded() {
        self.stage = .thinking
    }

    /// The current exchange is given up, and the request goes on without it.
    mutating func exchangeAbandoned() {
        guard self.stage == .sending else { return }
        self.abandoned.insert(self.exchange)
        self.stage = .thinking
    }

    /// - Returns: whether it was not over yet.
    mutating func finish(as state: RequestState) -> Bool {
        guard self.stage != .over else { return false }
        self.exchangeAbandoned()
        self.stage = .over
        self.state = state
        return true
    }
}
