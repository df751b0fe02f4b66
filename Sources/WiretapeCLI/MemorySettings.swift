internal import Platform

/// Tells the allocator what a proxy does with memory.
enum MemorySettings {
    /// Keeps blocks of body size in the heap.
    ///
    /// glibc maps each block above 128 KiB and gives free memory back at once; the page faults cost as much as copying. Both limits
    /// follow the largest mapped block that was ever freed (mallopt(3), M_MMAP_THRESHOLD), so freeing one of that size sets them.
    static func apply(bodySize: Int = 2 << 20) {
        #if canImport(Glibc)
        // Not malloc: an optimizing compiler leaves out a malloc whose block is only freed.
        var block: UnsafeMutableRawPointer?
        if posix_memalign(&block, MemoryLayout<UnsafeRawPointer>.alignment, bodySize) == 0 { free(block) }
        #endif
    }
}
