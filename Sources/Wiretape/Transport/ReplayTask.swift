internal import Dispatch
internal import Foundation
internal import TapeBytes

/// An answer that could not be given at once: it was paused, takes its time, is read from the disk, or never ends.
// SAFETY: `script` and `content` are touched only by whoever has the turn that `DeliveryState` gives to one thread at a time.
final class ReplayTask: TransportTask, @unchecked Sendable {
    /// Nil for an answer that lies in memory.
    private let player: ReplayPlayer?
    private let index: Int
    private let receive: @Sendable (TransportEvent) -> Demand
    private let watch: ReplayClock?
    private var script: ReplayScript
    private var content: ContentStream?
    private let state: Guarded<DeliveryState>
    private let sleeper = Guarded<Task<Void, Never>?>(nil)

    /// - Parameter watch: nil where nothing is waited for.
    init(
        _ script: ReplayScript, of index: Int, player: ReplayPlayer?, watch: ReplayClock?, isPaused: Bool,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) {
        self.script = script
        self.index = index
        self.player = player
        self.watch = watch
        self.receive = receive
        self.state = Guarded(DeliveryState(isPaused: isPaused))
    }

    func cancel() {
        guard self.state.withLock({ $0.cancel() }) == .tellCancelled else { return }
        self.sleeper.withLock { $0 }?.cancel()
        self.tellCancelled()
    }

    func resume() {
        // Not on the caller's thread: it may hold what the receiver wants.
        if self.state.withLock({ $0.resume() }) == .go { DispatchQueue.global().async { self.run() } }
    }

    private func tellCancelled() { _ = self.receive(.failed(.cancelled())) }

    /// Delivers until there is something to wait for. Called with the turn.
    func run() {
        while true {
            switch self.script.next(now: self.watch?.now ?? .infinity) {
            case .over: return self.state.withLock { $0.didEnd() }
            case .hang:
                if self.state.withLock({ $0.willWait() }) == .tellCancelled { self.tellCancelled() }
                return
            case .wait(let due): return self.wait(until: due)
            case .read(let limit): self.read(limit)
            case .emit(let event):
                switch self.state.withLock({ $0.willDeliver() }) {
                case .go: break
                case .stop: return
                case .tellCancelled: return self.tellCancelled()
                }
                if event.isLast { self.state.withLock { $0.didEnd() } }
                let demand = self.receive(event)
                if event.isLast { return }
                switch self.state.withLock({ $0.didDeliver(demand) }) {
                case .go: break
                case .stop: return
                case .tellCancelled: return self.tellCancelled()
                }
            }
        }
    }

    private func wait(until due: Double) {
        guard let watch else { return }
        if self.state.withLock({ $0.willWait() }) == .tellCancelled { return self.tellCancelled() }
        let sleeper = Task {
            do { try await watch.sleep(until: due) } catch { return }
            if self.state.withLock({ $0.didWait() }) == .go { self.run() }
        }
        self.sleeper.withLock { $0 = sleeper }
        // A cancel that came before the sleeper was there to be found.
        if self.state.withLock({ $0.isOver }) { sleeper.cancel() }
    }

    private func read(_ limit: Int) {
        do {
            guard let stream = try self.content ?? self.player?.open(self.script.answer) else {
                return self.script.read(Data(), isLast: true)
            }
            self.content = stream
            let octets = try stream.next(limit)
            self.script.read(octets, isLast: stream.isEnded)
        } catch {
            if let failure = self.player?.unserved(self.index, error) { self.script.failed(failure) }
        }
    }
}

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
