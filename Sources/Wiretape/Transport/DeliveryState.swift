/// Who may deliver events of one exchange: a rule for pause, resume and cancel that come from any side at any time.
///
/// Whoever holds the turn delivers, one event after the other, and asks before and behind each.
struct DeliveryState: Sendable {
    enum Action: Sendable, Equatable {
        /// Deliver on: the turn is the caller's.
        case go
        /// Let go of the turn: somebody else comes back with it, or nobody is to.
        case stop
        /// The turn is the caller's, for one last event: that it was cancelled.
        case tellCancelled
    }

    private enum Turn { case taken, paused, waiting, over }

    private var turn: Turn
    private var isCancelled = false
    private var wasResumed = false

    /// - Parameter isPaused: nobody has the turn until it is resumed.
    init(isPaused: Bool = false) { self.turn = isPaused ? .paused : .taken }

    var isOver: Bool { self.turn == .over }

    /// An event is about to be delivered.
    mutating func willDeliver() -> Action {
        self.wasResumed = false
        guard self.turn == .taken else { return .stop }
        guard self.isCancelled else { return .go }
        self.turn = .over
        return .tellCancelled
    }

    mutating func didDeliver(_ demand: Demand) -> Action {
        guard self.turn == .taken else { return .stop }
        if self.isCancelled {
            self.turn = .over
            return .tellCancelled
        }
        guard demand == .pause, !self.wasResumed else { return .go }
        self.turn = .paused
        return .stop
    }

    /// The last event was delivered.
    mutating func didEnd() { self.turn = .over }

    /// Nothing is to be delivered before a time has come or something was read.
    mutating func willWait() -> Action {
        guard self.turn == .taken else { return .stop }
        if self.isCancelled {
            self.turn = .over
            return .tellCancelled
        }
        self.turn = .waiting
        return .stop
    }

    /// That is over.
    mutating func didWait() -> Action {
        guard self.turn == .waiting else { return .stop }
        self.turn = .taken
        return .go
    }

    mutating func resume() -> Action {
        switch self.turn {
        case .taken:
            self.wasResumed = true
            return .stop
        case .paused:
            self.turn = .taken
            return .go
        case .waiting, .over: return .stop
        }
    }

    mutating func cancel() -> Action {
        switch self.turn {
        case .taken:
            self.isCancelled = true
            return .stop
        case .paused, .waiting:
            self.turn = .over
            return .tellCancelled
        case .over: return .stop
        }
    }
}
