@testable import TapeProxy

extension DiskPool {
    /// For tests that do not stop the pool.
    static let shared = DiskPool()
}
