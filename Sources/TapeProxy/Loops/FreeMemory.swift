internal import Dispatch
internal import Platform

/// Memory that was freed and that the allocator keeps.
enum FreeMemory {
    /// Gives it back to the system, on a thread of its own since that takes milliseconds.
    static func giveBackSoon() {
        DispatchQueue.global(qos: .utility).async { self.giveBack() }
    }

    /// Does nothing where the allocator has no such call.
    static func giveBack() {
        #if canImport(Glibc)
        // Not in the Glibc module.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        // SAFETY: int malloc_trim(size_t), as malloc_trim(3) has it.
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
        #endif
    }
}

/// Tells when so many connections have gone that their memory is worth giving back: allocators keep what was freed, for the next crowd.
struct TrimRule {
    /// Fewer than so many hold little, at some 50 KiB each in the middle of a TLS handshake.
    static let crowd = 500

    private var peak = 0

    /// - Parameter count: how many connections there are now.
    mutating func isDue(count: Int) -> Bool {
        self.peak = max(self.peak, count)
        guard self.peak >= Self.crowd, count <= self.peak / 4 else { return false }
        self.peak = count
        return true
    }
}
