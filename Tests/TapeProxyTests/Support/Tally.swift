import NIOConcurrencyHelpers

/// Counts from any thread.
final class Tally: Sendable {
    private let value = NIOLockedValueBox(0)

    func add() { self.value.withLockedValue { $0 += 1 } }

    var count: Int { self.value.withLockedValue { $0 } }
}
