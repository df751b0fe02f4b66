@testable import TapeProxy

extension DiskPool {
    /// For tests that do not stop it.
    static let shared = DiskPool()
}
