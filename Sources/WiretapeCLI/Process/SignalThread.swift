internal import Dispatch
internal import Platform

/// Handles SIGINT, SIGTERM and SIGHUP on a thread of its own, so that a handler may block.
enum SignalThread {
    /// A signal, and whether the terminal sent it: then the child, in the same process group, has received it too.
    struct Arrival: Sendable {
        var signal: Int32
        var isFromTerminal: Bool
    }

    private static func watched() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
        return set
    }

    /// Call first in the process: threads inherit the mask.
    static func block() {
        var set = self.watched()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // Then a write(2) beyond the file size limit fails, instead of killing the process.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// For a command that has nothing to close: a signal, or a closed output, ends it at once.
    static func unblock() {
        var set = self.watched()
        signal(SIGPIPE, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Calls `handle` for each signal until the process ends.
    static func start(_ handle: @escaping @Sendable (Arrival) -> Void) {
        let queue = DispatchQueue(label: "wiretape.signals")
        queue.async {
            var set = self.watched()
            while true {
                #if os(Linux)
                var info = siginfo_t()
                let signal = sigwaitinfo(&set, &info)
                guard signal > 0 else { continue }
                // SI_KERNEL: sent by the terminal driver, not by kill(2).
                handle(Arrival(signal: signal, isFromTerminal: info.si_code == 0x80))
                #else
                var signal: Int32 = 0
                guard sigwait(&set, &signal) == 0 else { continue }
                handle(Arrival(signal: signal, isFromTerminal: signal == SIGINT && tcgetpgrp(STDIN_FILENO) == getpgrp()))
                #endif
            }
        }
    }
}
