internal import Dispatch
internal import Foundation
internal import TapeBytes

/// A response that could not be delivered synchronously: it was paused, has latency, is read from the disk, or never ends.
// SAFETY: `script` and `content` are accessed only by the thread that has the turn, which `DeliveryState` gives to one at a time.
final class ReplayTask: TransportTask, @unchecked Sendable {
    /// Nil if the whole response is in memory.
    private let player: ReplayPlayer?
    private let index: Int
    private let receive: @Sendable (TransportEvent) -> Demand
    private let watch: ElapsedClock?
    private var script: ReplayScript
    private var content: ContentStream?
    private let state: Guarded<DeliveryState>
    private let sleeper = Guarded<Task<Void, Never>?>(nil)

    /// - Parameter watch: nil if there is no latency.
    init(
        _ script: ReplayScript, of index: Int, player: ReplayPlayer?, watch: ElapsedClock?, isPaused: Bool,
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
        guard self.state.withLock({ $0.cancel() }) == .reportCancelled else { return }
        self.sleeper.withLock { $0 }?.cancel()
        self.reportCancelled()
    }

    func resume() {
        // Does not run on the caller's thread, which may hold a lock that the receiver needs.
        if self.state.withLock({ $0.resume() }) == .go { DispatchQueue.global().async { self.run() } }
    }

    private func reportCancelled() { _ = self.receive(.failed(.cancelled())) }

    /// Delivers until it has to wait. The caller has the turn.
    func run() {
        while true {
            switch self.script.next(now: self.watch?.milliseconds ?? .infinity) {
            case .over: return self.state.withLock { $0.didEnd() }
            case .hang:
                if self.state.withLock({ $0.willWait() }) == .reportCancelled { self.reportCancelled() }
                return
            case .wait(let due): return self.wait(until: due)
            case .read(let limit): self.read(limit)
            case .emit(let event):
                switch self.state.withLock({ $0.willDeliver() }) {
                case .go: break
                case .stop: return
                case .reportCancelled: return self.reportCancelled()
                }
                if event.isLast { self.state.withLock { $0.didEnd() } }
                let demand = self.receive(event)
                if event.isLast { return }
                switch self.state.withLock({ $0.didDeliver(demand) }) {
                case .go: break
                case .stop: return
                case .reportCancelled: return self.reportCancelled()
                }
            }
        }
    }

    private func wait(until due: Double) {
        guard let watch else { return }
        if self.state.withLock({ $0.willWait() }) == .reportCancelled { return self.reportCancelled() }
        let sleeper = Task {
            do { try await watch.sleep(until: due) } catch { return }
            if self.state.withLock({ $0.didWait() }) == .go { self.run() }
        }
        self.sleeper.withLock { $0 = sleeper }
        // `cancel` may have been called before the sleeper was stored.
        if self.state.withLock({ $0.isOver }) { sleeper.cancel() }
    }

    private func read(_ limit: Int) {
        do {
            guard let stream = try self.content ?? self.player?.open(self.script.answer) else {
                return self.script.read(Data(), isLast: true)
            }
            self.content = stream
            let bytes = try stream.next(limit)
            self.script.read(bytes, isLast: stream.isEnded)
        } catch {
            if let failure = self.player?.unserved(self.index, error) { self.script.failed(failure) }
        }
    }
}

/// Decides which thread may deliver the events of one exchange. Pause, resume and cancel may be called on any thread at any time.
///
/// The thread that has the turn delivers one event at a time, and asks before and after each.
struct DeliveryState: Sendable {
    enum Action: Sendable, Equatable {
        /// Deliver: the caller has the turn.
        case go
        /// Deliver nothing: the caller does not have the turn, or no longer has it.
        case stop
        /// Deliver one last event: the exchange was cancelled.
        case reportCancelled
    }

    private enum Turn { case taken, paused, waiting, over }

    private var turn: Turn
    private var isCancelled = false
    private var wasResumed = false

    /// - Parameter isPaused: no thread has the turn until `resume`; else the caller has it.
    init(isPaused: Bool = false) { self.turn = isPaused ? .paused : .taken }

    var isOver: Bool { self.turn == .over }

    /// An event is about to be delivered.
    mutating func willDeliver() -> Action {
        self.wasResumed = false
        guard self.turn == .taken else { return .stop }
        guard self.isCancelled else { return .go }
        self.turn = .over
        return .reportCancelled
    }

    mutating func didDeliver(_ demand: Demand) -> Action {
        guard self.turn == .taken else { return .stop }
        if self.isCancelled {
            self.turn = .over
            return .reportCancelled
        }
        guard demand == .pause, !self.wasResumed else { return .go }
        self.turn = .paused
        return .stop
    }

    /// The last event was delivered.
    mutating func didEnd() { self.turn = .over }

    /// Nothing can be delivered before a later time.
    mutating func willWait() -> Action {
        guard self.turn == .taken else { return .stop }
        if self.isCancelled {
            self.turn = .over
            return .reportCancelled
        }
        self.turn = .waiting
        return .stop
    }

    /// That time has been reached.
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
            return .reportCancelled
        case .over: return .stop
        }
    }
}
