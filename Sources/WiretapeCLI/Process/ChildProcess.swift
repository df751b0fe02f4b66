internal import Dispatch
internal import Platform

/// A program with the proxy in its environment, on the same terminal and standard streams.
///
/// Does not wait on its own: `wait` blocks the calling thread.
final class ChildProcess: Sendable {
    let id: pid_t
    private let gate = DispatchSemaphore(value: 1)
    // SAFETY: accessed only while holding `gate`.
    private nonisolated(unsafe) var isReaped = false

    enum StartError: Error {
        case notFound(String)
        case failed(String)
    }

    /// Starts a program, looked up in PATH.
    ///
    /// - Parameter inherited: descriptors that the program gets besides the standard streams.
    init(command: [String], environment: [String: String], inherited: [Int32] = []) throws(StartError) {
        guard let name = command.first else { throw .failed("no command after \"--\": name the program to run.") }
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for pointer in arguments + variables { free(pointer) }
        }
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        #else
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The parent blocks and ignores signals for its own purposes; the child starts with the defaults.
        var all = sigset_t()
        sigemptyset(&all)
        posix_spawnattr_setsigmask(&attributes, &all)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ] { sigaddset(&all, signal) }
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        StartDescriptors.closeOthersAtExec()
        for descriptor in inherited { _ = fcntl(descriptor, F_SETFD, 0) }
        var id = pid_t()
        var status = posix_spawnp(&id, name, nil, &attributes, &arguments, &variables)
        // A program written a moment ago can still be open in a child of its writer, between fork and exec.
        for _ in 0..<20 where status == ETXTBSY {
            poll(nil, 0, 10)
            status = posix_spawnp(&id, name, nil, &attributes, &arguments, &variables)
        }
        switch status {
        case 0: self.id = id
        case ENOENT: throw .notFound(Self.notFound(name))
        default: throw .failed("\"\(name)\" cannot be started (\(String(cString: strerror(status)))): is it a program that you may run?")
        }
    }

    static func notFound(_ name: String) -> String {
        "\"\(name)\" was not found: pass the program's path, or add its folder to PATH."
    }

    /// Blocks until the program ends.
    ///
    /// - Returns: its exit code, or 128 plus the signal's number, as in shells.
    func wait() -> Int32 {
        // Waits without reaping: the process ID may be reused only after the last `send`.
        var info = siginfo_t()
        while waitid(P_PID, id_t(self.id), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        self.gate.wait()
        defer { self.gate.signal() }
        self.isReaped = true
        var status: Int32 = 0
        while waitpid(self.id, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    /// Does nothing once the program has ended.
    func send(signal: Int32) {
        self.gate.wait()
        defer { self.gate.signal() }
        if !self.isReaped { kill(self.id, signal) }
    }
}
