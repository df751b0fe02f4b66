import Foundation

/// Values that come from anywhere, in order.
final class Steps<Value: Sendable>: @unchecked Sendable {
    // SAFETY: touched under the lock alone.
    private var values: [Value] = []
    private let lock = NSLock()

    func add(_ value: Value) { self.lock.withLock { self.values.append(value) } }
    var all: [Value] { self.lock.withLock { self.values } }
}
