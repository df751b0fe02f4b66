internal import Dispatch
internal import Platform
internal import TapeBytes

/// Handles SIGINT, SIGTERM and SIGHUP on a thread of its own, so that a handler may block.
enum SignalThread {
    /// A signal, and whether the terminal sent it. In that case the child, which is in the same process group, has received it as well.
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

    /// Call this first in the process, because threads inherit the mask.
    static func block() {
        var set = self.watched()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // Then a write(2) beyond the file size limit fails, instead of killing the process.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// For a command that has nothing to close: a signal or a closed output ends it at once.
    static func unblock() {
        var set = self.watched()
        signal(SIGPIPE, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// For a command whose files stay whole whenever it ends: a signal ends it at once, after a line that says what is kept.
    static func end(saying text: String) {
        signal(SIGPIPE, SIG_DFL)
        self.start { arrival in
            Terminal.error.complain(text)
            FreshFile.removeUnfinished()
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, arrival.signal)
            signal(arrival.signal, SIG_DFL)
            pthread_sigmask(SIG_UNBLOCK, &set, nil)
            // Ends the process as the signal does, so that its parent sees which one it was.
            raise(arrival.signal)
        }
    }

    private struct State: Sendable {
        var arrivals = 0
        /// When the first signal came.
        var first: DispatchTime?
        /// The text that is printed before the second signal ends the process; nil until the run is being closed.
        var words: (hint: String, end: String)?
    }

    private static let state = Guarded(State())

    /// Reports that the run is being closed. From now on, the second signal ends the process at once. Everything recorded is then in the
    /// recording's files, as after a crash.
    ///
    /// - Parameter file: the file that is being closed; nil if there is none.
    static func close(_ file: String?) {
        let what = file.map { "\"\($0)\"" } ?? "the recordings"
        let hint = "closing \(what): another signal ends this at once."
        let next = file.map { "\"wiretape decode \($0)\"" } ?? "\"wiretape decode\""
        let end = "ended before \(what) was sorted and searched once more: what was recorded is there; \(next) finishes it."
        self.state.withLock { $0.words = (hint, end) }
    }

    /// Counts an arrival, and ends the process if it is the second one of a run that is being closed.
    private static func count(_ arrival: Arrival) {
        let (arrivals, words) =
            self.state.withLock { state in
                // Some programs send one signal to the process and to its group. A terminal sends one for each Ctrl-C.
                if !arrival.isFromTerminal, let first = state.first, DispatchTime.now() < first + .seconds(1) { return (0, nil) }
                state.first = state.first ?? .now()
                state.arrivals += 1
                return (state.arrivals, state.words)
            } as (Int, (hint: String, end: String)?)
        guard let words else { return }
        guard arrivals > 1 else { return Terminal.error.complain(words.hint) }
        Terminal.error.complain(words.end)
        // Not exit(3), whose handlers could wait for the work that this ends.
        _exit(128 + arrival.signal)
    }

    /// Calls `handle` for each signal until the process ends.
    static func start(_ handle: @escaping @Sendable (Arrival) -> Void) {
        let queue = DispatchQueue(label: "wiretape.signals")
        @Sendable func arrived(_ arrival: Arrival) {
            self.count(arrival)
            handle(arrival)
        }
        queue.async {
            var set = self.watched()
            while true {
                #if os(Linux)
                var info = siginfo_t()
                let signal = sigwaitinfo(&set, &info)
                guard signal > 0 else { continue }
                // SI_KERNEL: sent by the terminal driver, not by kill(2).
                arrived(Arrival(signal: signal, isFromTerminal: info.si_code == 0x80))
                #else
                var signal: Int32 = 0
                guard sigwait(&set, &signal) == 0 else { continue }
                arrived(Arrival(signal: signal, isFromTerminal: signal == SIGINT && tcgetpgrp(STDIN_FILENO) == getpgrp()))
                #endif
            }
        }
    }
}
