internal import Platform

/// The processors that this process may use.
package enum ProcessorCount {
    /// At least one.
    package static var usable: Int { max(1, self.allowed ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Those that `taskset` or a container has left; nil if there is no such thing.
    private static var allowed: Int? {
        #if canImport(Glibc)
        // Not in the Glibc module.
        guard let symbol = dlsym(nil, "sched_getaffinity") else { return nil }
        var words = [UInt64](repeating: 0, count: 16)
        // SAFETY: int sched_getaffinity(pid_t, size_t, cpu_set_t *), as sched_getaffinity(2) has it; a set is that many bits.
        let ask = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int, UnsafeMutableRawPointer) -> Int32).self)
        guard words.withUnsafeMutableBytes({ bytes in bytes.baseAddress.map { ask(0, bytes.count, $0) } }) == 0 else { return nil }
        return words.reduce(0) { $0 + $1.nonzeroBitCount }
        #else
        return nil
        #endif
    }
}
