internal import Platform

/// The processors that this process may use.
package enum ProcessorCount {
    /// At least one.
    package static var usable: Int { max(1, self.allowed ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// The processors that `taskset` or a container allows; nil if that is unknown.
    private static var allowed: Int? {
        #if canImport(Glibc)
        // The Glibc module does not declare it.
        guard let symbol = dlsym(nil, "sched_getaffinity") else { return nil }
        var words = [UInt64](repeating: 0, count: 16)
        // SAFETY: the signature is int sched_getaffinity(pid_t, size_t, cpu_set_t *), see sched_getaffinity(2); a set is an array of bits
        // of that size.
        let ask = unsafeBitCast(symbol, to: (@convention(c) (Int32, Int, UnsafeMutableRawPointer) -> Int32).self)
        guard words.withUnsafeMutableBytes({ bytes in bytes.baseAddress.map { ask(0, bytes.count, $0) } }) == 0 else { return nil }
        return words.reduce(0) { $0 + $1.nonzeroBitCount }
        #else
        return nil
        #endif
    }
}
