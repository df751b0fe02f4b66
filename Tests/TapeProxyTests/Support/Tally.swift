import TapeBytes

/// Counts from any thread.
final class Tally: Sendable {
    private let value = Guarded(0)

    func add() { self.value.withLock { $0 += 1 } }

    var count: Int { self.value.withLock { $0 } }
}
