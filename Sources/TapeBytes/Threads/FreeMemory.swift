internal import Dispatch
internal import Platform

/// Freed memory that the allocator keeps.
package enum FreeMemory {
    /// Returns the memory to the system, on another thread since that takes milliseconds.
    package static func giveBackSoon() {
        DispatchQueue.global(qos: .utility).async { self.giveBack() }
    }

    /// Does nothing if the allocator has no such call.
    package static func giveBack() {
        #if canImport(Glibc)
        // The Glibc module does not declare it.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        // SAFETY: the signature is int malloc_trim(size_t), see malloc_trim(3).
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
        #endif
    }
}
