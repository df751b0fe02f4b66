internal import Platform

/// How many files and sockets this process may open.
package enum OpenFileLimit {
    /// With fewer, threads of system libraries end the process without any message, because they cannot open what they need.
    package static let least = 64
    /// How many of these must still be free at the start. A parent may pass on more than the standard streams.
    package static let leastFree = 48
    /// Descriptors reserved for the cassette, its bodies and the event loop.
    static let reserve = 64

    /// How many files this process can still open, counted up to `leastFree`. Descriptors that it inherited use up the limit, too.
    package static func free(of limit: Int) -> Int {
        var count = 0
        for descriptor in 0..<Int32(limit) where fcntl(descriptor, F_GETFD) < 0 {
            count += 1
            if count == self.leastFree { break }
        }
        return count
    }

    /// As many client connections as are wanted and possible. A forwarded exchange takes a connection on both sides.
    static func connections(_ wanted: Int) -> Int {
        max(16, min(wanted, (self.raise() - self.reserve) / 2))
    }

    /// Raises the soft limit to the hard limit and returns the new value.
    @discardableResult package static func raise() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            // On macOS the kernel refuses "unlimited"; the largest value it accepts is OPEN_MAX.
            raised.rlim_cur = min(limit.rlim_max, 65_536)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(min(limit.rlim_cur, 65_536))
    }
}
