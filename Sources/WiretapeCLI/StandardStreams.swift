internal import Platform
internal import TapeBytes

/// The descriptors that the process was started with, which go on to the programs that it starts.
///
/// Its own do not: NIO's sockets are not closed by an exec, and a program that outlives the proxy would keep its port.
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
        guard let folder = opendir("/dev/fd") else { return [] }
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
    /// Opens the null device for those the parent has closed. Call before anything else opens a file: that would get their numbers,
    /// and a cassette with the number of standard error would get the messages for people.
    static func fill() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            // Takes the lowest free number, which is this one.
            _ = open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }
}
