@testable import TapeProxy

extension WorkPool {
    /// For tests that do not stop the pool.
    static let shared = WorkPool()
}
