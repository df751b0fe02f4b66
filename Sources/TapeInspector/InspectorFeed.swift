internal import TapeBytes

/// Informs pages about the cassette's progress: each page gets the latest tick that it has not seen.
///
/// A tick contains counts, not rows, so a slow page misses ticks but no rows. Any thread may publish and listen.
final class InspectorFeed: Sendable {
    private struct State {
        var tick: [UInt8] = []
        var number = 0
        var next = 0
        var listeners: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    /// The latest tick, and an increasing number.
    var latest: (number: Int, tick: [UInt8]) { self.state.withLock { ($0.number, $0.tick) } }

    var hasListeners: Bool { self.state.withLock { !$0.listeners.isEmpty } }

    func publish(_ tick: [UInt8]) {
        let listeners = self.state.withLock { state -> [@Sendable () -> Void] in
            guard tick != state.tick else { return [] }
            state.tick = tick
            state.number += 1
            return Array(state.listeners.values)
        }
        for listener in listeners { listener() }
    }

    /// - Parameter listener: called after each publication, on its thread.
    func listen(_ listener: @escaping @Sendable () -> Void) -> Int {
        self.state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func forget(_ listener: Int) { self.state.withLock { $0.listeners[listener] = nil } }
}
