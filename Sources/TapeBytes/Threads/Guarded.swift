internal import Platform

/// A value protected by a mutex.
///
/// Not recursive and not fair: code under the lock must be short, must not block and must not call out.
// SAFETY: `value` is accessed only between lock and unlock, and the mutex never moves, as it is allocated separately until deinit.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Allocated separately, which avoids Swift's exclusivity checks: the mutex is enough.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        // Fails only if out of memory, or because of attributes, and there are none.
        let status = pthread_mutex_init(self.mutex, nil)
        precondition(status == 0, "out of memory for a mutex")
    }

    deinit {
        self.value.deinitialize(count: 1)
        self.value.deallocate()
        pthread_mutex_destroy(self.mutex)
        self.mutex.deinitialize(count: 1)
        self.mutex.deallocate()
    }

    /// Inlined, so that callers avoid the generic form of the closure.
    @inlinable
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        self.lock()
        defer { self.unlock() }
        return try body(&self.value.pointee)
    }

    @usableFromInline func lock() { pthread_mutex_lock(self.mutex) }

    @usableFromInline func unlock() { pthread_mutex_unlock(self.mutex) }
}
