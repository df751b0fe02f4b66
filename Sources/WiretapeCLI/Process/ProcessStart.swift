internal import Platform
internal import TapeBytes

/// The file descriptors that the process was started with, which child programs inherit.
///
/// They do not inherit the others: exec does not close NIO's sockets, and a program that outlives the proxy would keep its port.
enum StartDescriptors {
    private static let known = Guarded<Set<Int32>>([STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO])

    /// Call before anything opens a file.
    static func note() { self.known.withLock { $0.formUnion(self.open()) } }

    /// Call right before a program is started.
    static func closeOthersAtExec() {
        let known = self.known.withLock { $0 }
        for descriptor in self.open() where !known.contains(descriptor) {
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
        }
    }

    private static func open() -> [Int32] {
        // Containers and chroots may lack /dev/fd, which is a link to the other.
        guard let folder = opendir("/proc/self/fd") ?? opendir("/dev/fd") else { return [] }
        defer { closedir(folder) }
        var descriptors: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let number = Int32(name) { descriptors.append(number) }
        }
        return descriptors
    }
}

/// The process's standard streams.
enum StandardStreams {
    /// Opens the null device for streams that the parent has closed. Call before anything else opens a file: it would get their numbers,
    /// and a cassette opened as standard error would receive the messages for people.
    static func fill() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // Takes the lowest free number, which is `stream`.
            _ = open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}

/// Tunes the allocator for a proxy.
enum MemorySettings {
    /// Keeps blocks of the size of a body in the heap.
    ///
    /// glibc maps each block above 128 KiB and returns it to the system when it is freed; the page faults cost as much as copying. Both
    /// limits follow the largest mapped block ever freed (mallopt(3), M_MMAP_THRESHOLD), so freeing one of that size sets them.
    static func apply(bodySize: Int = 2 << 20) {
        #if canImport(Glibc)
        // Not malloc: an optimizing compiler removes a malloc whose block is only freed.
        var block: UnsafeMutableRawPointer?
        if posix_memalign(&block, MemoryLayout<UnsafeRawPointer>.alignment, bodySize) == 0 { free(block) }
        #endif
    }
}
