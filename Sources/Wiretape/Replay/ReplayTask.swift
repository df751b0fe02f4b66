internal import Dispatch
internal import Foundation
internal import TapeBytes

/// An answer that could not be delivered synchronously: it was paused, has latency, is read from the disk, or never ends.
// SAFETY: `script` and `content` are accessed only by the thread that has the turn, which `DeliveryState` gives to one at a time.
final class ReplayTask: TransportTask, @unchecked Sendable {
    /// Nil if the whole answer is in memory.
    private let player: ReplayPlayer?
    private let index: Int
    private let receive: @Sendable (TransportEvent) -> Demand
    private let watch: ReplayClock?
    private var script: ReplayScript
    private var content: ContentStream?
    private let state: Guarded<DeliveryState>
    private let sleeper = Guarded<Task<Void, Never>?>(nil)

    /// - Parameter watch: nil if there is no latency.
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
        // Not on the caller's thread, which may hold a lock that the receiver needs.
        if self.state.withLock({ $0.resume() }) == .go { DispatchQueue.global().async { self.run() } }
    }

    private func tellCancelled() { _ = self.receive(.failed(.cancelled())) }

    /// Delivers until it has to wait. The caller has the turn.
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
        // `cancel` may have come before the sleeper was stored.
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

/// Decides which thread may deliver the events of one exchange, while pause, resume and cancel come from any thread at any time.
///
/// The thread that has the turn delivers one event at a time, and asks before and after each.
struct DeliveryState: Sendable {
    enum Action: Sendable, Equatable {
        /// Deliver: the caller has the turn.
        case go
        /// Deliver nothing: the caller does not have the turn, or has it no more.
        case stop
        /// Deliver one last event, that the exchange was cancelled.
        case tellCancelled
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

    /// Nothing can be delivered before a time has come.
    mutating func willWait() -> Action {
        guard self.turn == .taken else { return .stop }
        if self.isCancelled {
            self.turn = .over
            return .tellCancelled
        }
        self.turn = .waiting
        return .stop
    }

    /// The time has come.
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

/// Milliseconds since it was made, on any clock.
struct ReplayClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleepFor: @Sendable (Duration) async throws -> Void

    init(_ clock: any Clock<Duration>) { self.init(starting: clock) }

    private init(starting clock: some Clock<Duration>) {
        let start = clock.now
        self.elapsed = { start.duration(to: clock.now) }
        self.sleepFor = { try await clock.sleep(for: $0) }
    }

    var now: Double { Self.milliseconds(self.elapsed()) }

    /// Throws when the task is cancelled.
    func sleep(until due: Double) async throws {
        let left = due - self.now
        // Rounded up, so that it does not wake before the time.
        if left > 0 { try await self.sleepFor(.nanoseconds(Int64((left * 1e6).rounded(.up)))) }
    }

    static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }
}
