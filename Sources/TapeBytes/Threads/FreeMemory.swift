internal import Dispatch
internal import Platform

/// Memory that was freed and that the allocator keeps.
package enum FreeMemory {
    /// Gives it back to the system, on a thread of its own since that takes milliseconds.
    package static func giveBackSoon() {
        DispatchQueue.global(qos: .utility).async { self.giveBack() }
    }

    /// Does nothing where the allocator has no such call.
    package static func giveBack() {
        #if canImport(Glibc)
        // Not in the Glibc module.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        // SAFETY: int malloc_trim(size_t), as malloc_trim(3) has it.
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
        #endif
    }
}
