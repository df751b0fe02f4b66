internal import Platform

/// The output and the exit code of a short system program. The program gets no input from the terminal, and must end within a time limit.
struct ProgramOutput: Hashable {
    /// In bytes; more output is cut off.
    static let limit = 256 << 10

    /// The exit code, or 128 and the signal's number.
    var status: Int32
    /// Standard output, with standard error if asked for.
    var output: [UInt8]

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - path: looked up in PATH if it has no slash.
    ///   - words: its arguments, with the name first.
    ///   - seconds: the program is killed after this time.
    ///   - limit: more output is cut off.
    /// - Returns: nil if the program cannot be started, or does not end in time.
    static func text(
        of path: String, _ words: [String], seconds: Int32 = 10, withErrors: Bool = false, limit: Int = Self.limit
    ) -> ProgramOutput? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        // The program gets its end as another descriptor.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let id = self.start(path, words, output: ends[1], withErrors: withErrors)
        close(ends[1])
        guard let id else { return nil }
        let output = self.read(ends[0], seconds: seconds, limit: limit)
        if output == nil { kill(id, SIGKILL) }
        var status: Int32 = 0
        while waitpid(id, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7f
        return output.map { ProgramOutput(status: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: $0) }
    }

    private static func start(_ path: String, _ words: [String], output: Int32, withErrors: Bool) -> pid_t? {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in arguments { free(pointer) } }
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
        #else
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        if withErrors {
            posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        var id = pid_t()
        return posix_spawnp(&id, path, &actions, &attributes, &arguments, environ) == 0 ? id : nil
    }

    /// Reads until the program closes its end; nil if that takes too long.
    private static func read(_ descriptor: Int32, seconds: Int32, limit: Int) -> [UInt8]? {
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16 << 10)
        let end = time(nil) + time_t(seconds)
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = end - time(nil)
            guard left >= 0 else { return nil }
            guard poll(&waiting, 1, Int32(max(left, 1)) * 1000) > 0 else { continue }
            let count = block.withUnsafeMutableBytes { Self.take(descriptor, $0) }
            guard count > 0 else { return output }
            output += block[..<min(count, max(0, limit - output.count))]
        }
    }

    private static func take(_ descriptor: Int32, _ space: UnsafeMutableRawBufferPointer) -> Int {
        Platform.read(descriptor, space.baseAddress, space.count)
    }
}
