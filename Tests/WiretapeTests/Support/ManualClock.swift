import TapeCore

/// A clock that goes on only when it is told to.
///
/// Its sleepers are woken in the order of their times.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: self.offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - self.offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper: Sendable {
        var id: Int
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var nextID = 0
        var watchers: [CheckedContinuation<Void, Never>] = []
        var cancelled: Set<Int> = []
    }

    private let state = Guarded(State())

    var now: Instant { self.state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = self.state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (isDue, isCancelled, watchers) = self.state.withLock { state -> (Bool, Bool, [CheckedContinuation<Void, Never>]) in
                    if state.cancelled.contains(id) { return (false, true, []) }
                    guard deadline > state.now else { return (true, false, []) }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    defer { state.watchers = [] }
                    return (false, false, state.watchers)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                if isDue { continuation.resume() }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = self.state.withLock { state -> Sleeper? in
                state.cancelled.insert(id)
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits until somebody sleeps.
    func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLock { state in
                guard state.sleepers.isEmpty else { return true }
                state.watchers.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let due = self.state.withLock { state -> [Sleeper] in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
