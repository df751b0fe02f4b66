/// Follows one load of a session that is not ours: when its exchange starts, when its answer may be given, and that it is given once.
///
/// Knows calls, never threads: where the answer may be given is the caller's to know. URLSession starts a load again behind each resume.
struct LoadState: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case start
        /// Give what there is, now and here.
        case deliver
        /// Have the load called back where answers may be given.
        case comeBack
        case cancel
        case wait
    }

    private enum Phase: Hashable {
        case idle
        /// The exchange is being started, in the call in which the answer may be given as well.
        case starting
        case waiting(hasAsked: Bool)
        case finished
        case stopped
    }

    private var phase = Phase.idle

    var isOver: Bool { self.phase == .finished || self.phase == .stopped }

    /// URLSession calls, for the first time or behind a suspension, its user's or ours.
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

    /// The first call is about to return.
    mutating func exchangeStarted() -> Action {
        guard self.phase == .starting else { return .wait }
        self.phase = .waiting(hasAsked: false)
        return .deliver
    }

    /// There is something to give.
    mutating func answerArrived() -> Action {
        guard self.phase == .waiting(hasAsked: false) else { return .wait }
        self.phase = .waiting(hasAsked: true)
        return .comeBack
    }

    /// The last of it was given.
    mutating func finished() {
        if !self.isOver { self.phase = .finished }
    }

    /// URLSession stops the load: its task was cancelled, or suspended and may go on.
    mutating func loadingStopped(isCancelled: Bool) -> Action {
        guard isCancelled, !self.isOver else { return .wait }
        self.phase = .stopped
        return .cancel
    }
}

