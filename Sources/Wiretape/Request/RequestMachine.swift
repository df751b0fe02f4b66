extension HTTPSession.Request {
    /// The state of a request.
    public enum State: Sendable, Hashable {
        /// Created but not started: starts with its first handler or by `resume()`.
        case initialized
        case resumed
        /// Asks for no data until it is resumed. Data already on its way still arrives.
        case suspended
        case cancelled
        /// With a response or an error.
        case finished

        /// Whether the request has ended and nothing changes any more.
        public var isOver: Bool { self == .cancelled || self == .finished }
    }
}

/// Follows one request from its creation to its end, through all its attempts and redirects.
///
/// Knows states and the numbers of exchanges, never bytes, times or errors. An exchange is one request with its response on a transport.
struct RequestMachine: Sendable {
    /// The caller's next step after `resume`.
    enum Resumption: Sendable, Hashable {
        case nothing
        /// Make the request: it has not been started.
        case prepare
        /// Send the request that became ready while suspended.
        case send
        /// Ask the transport for more.
        case demand
    }

    private enum Stage {
        case new
        /// Adapters, handlers or retriers are running.
        case preparing
        /// Ready to be sent, and suspended.
        case held
        case sending
        case over
    }

    private(set) var state: HTTPSession.Request.State = .initialized
    private var stage: Stage = .new
    /// The number of the last exchange; 0 before the first.
    private(set) var exchange = 0
    /// Exchanges abandoned before their end; the tasks of some are not known yet.
    private var abandoned: Set<Int> = []

    mutating func resume() -> Resumption {
        guard self.state == .initialized || self.state == .suspended else { return .nothing }
        self.state = .resumed
        switch self.stage {
        case .new:
            self.stage = .preparing
            return .prepare
        case .held: return .send
        case .sending: return .demand
        case .preparing, .over: return .nothing
        }
    }

    /// - Returns: whether anything changed.
    mutating func suspend() -> Bool {
        guard self.state == .initialized || self.state == .resumed else { return false }
        self.state = .suspended
        return true
    }

    /// A request is ready to be sent: the first, one after a redirect, or another attempt.
    ///
    /// - Returns: the number of its exchange; nil if it is held or the request has ended.
    mutating func send() -> Int? {
        guard self.stage == .preparing || self.stage == .held else { return nil }
        guard self.state != .suspended else {
            self.stage = .held
            return nil
        }
        self.stage = .sending
        self.exchange += 1
        return self.exchange
    }

    /// Whether the request waits for the other side.
    var isWaiting: Bool { self.stage == .sending && self.state != .suspended }

    /// Whether events of that exchange are handled.
    func isCurrent(_ exchange: Int) -> Bool { self.stage == .sending && exchange == self.exchange }

    /// Whether that exchange was abandoned before its end, so that its task must be cancelled.
    func isAbandoned(_ exchange: Int) -> Bool { self.abandoned.contains(exchange) }

    /// The transport has sent the last event of the current exchange.
    mutating func exchangeEnded() {
        self.stage = .preparing
    }

    /// The current exchange is abandoned, and the request continues without it.
    mutating func exchangeAbandoned() {
        guard self.stage == .sending else { return }
        self.abandoned.insert(self.exchange)
        self.stage = .preparing
    }

    /// - Returns: false if the request had ended before.
    mutating func finish(as state: HTTPSession.Request.State) -> Bool {
        guard self.stage != .over else { return false }
        self.exchangeAbandoned()
        self.stage = .over
        self.state = state
        return true
    }
}
