import Foundation
import TapeBytes

/// A clock that stands still until a test moves it.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: self.offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - self.offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: UUID
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant()
        var sleepers: [Sleeper] = []
        var watchers: [Watcher] = []

        /// The watchers that wait for the current number of sleepers or fewer.
        mutating func satisfied() -> [Watcher] {
            let count = self.sleepers.count
            defer { self.watchers.removeAll { $0.count <= count } }
            return self.watchers.filter { $0.count <= count }
        }
    }

    private let state = Guarded(State())

    var now: Instant { self.state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    /// The number of sleeping tasks.
    var sleeperCount: Int { self.state.withLock { $0.sleepers.count } }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (result, woken): (Result<Void, any Error>?, [Watcher]) = self.state.withLock { state in
                    // A later cancellation finds the sleeper.
                    guard !Task.isCancelled else { return (.failure(CancellationError()), []) }
                    guard deadline > state.now else { return (.success(()), []) }
                    state.sleepers.append(Sleeper(id: id, deadline: deadline, continuation: continuation))
                    return (nil, state.satisfied())
                }
                if let result { continuation.resume(with: result) }
                for watcher in woken { watcher.continuation.resume() }
            }
        } onCancel: {
            let sleeper = self.state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the time, and wakes the sleepers that are due, the earliest first.
    func advance(by duration: Duration) {
        let due = self.state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            defer { state.sleepers.removeAll { $0.deadline <= now } }
            return state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns as soon as `count` tasks sleep.
    func sleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = self.state.withLock { state in
                guard state.sleepers.count < count else { return true }
                state.watchers.append(Watcher(count: count, continuation: continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
