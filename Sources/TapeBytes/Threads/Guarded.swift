internal import Platform

/// A value protected by a mutex.
///
/// Not recursive and not fair: what runs under the lock is short, does not block and does not call out.
// SAFETY: `value` is touched only between lock and unlock, and the mutex never moves: it has memory of its own until deinit.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// In memory of its own, so that Swift's checks of exclusive access are left out: the mutex is enough.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        self.mutex = .allocate(capacity: 1)
        self.mutex.initialize(to: pthread_mutex_t())
        // Fails only if out of memory, or for attributes, of which there are none.
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

    /// Inlined, so that its callers do without the general form of a closure over any types.
    @inlinable
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        self.lock()
        defer { self.unlock() }
        return try body(&self.value.pointee)
    }

    @usableFromInline func lock() { pthread_mutex_lock(self.mutex) }

    @usableFromInline func unlock() { pthread_mutex_unlock(self.mutex) }
}
