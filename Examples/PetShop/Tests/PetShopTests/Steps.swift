import Foundation

/// Numbers that come from anywhere, in order.
final class Steps: @unchecked Sendable {
    // SAFETY: touched under the lock alone.
    private var numbers: [Double] = []
    private let lock = NSLock()

    func add(_ number: Double) { self.lock.withLock { self.numbers.append(number) } }
    var all: [Double] { self.lock.withLock { self.numbers } }
}
