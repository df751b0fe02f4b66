internal import Dispatch
internal import TapeBytes

/// Ends the long work of a close once the grace period after the signal is over, because whoever stops a container soon kills it.
///
/// A run that ends by itself has all the time it needs, unless a signal comes during the close. Any thread may use it.
final class ClosingTime: Sendable {
    private struct State: Sendable {
        var isClosing = false
        var signal: DispatchTime?
    }

    /// How many seconds a signal before the close counts. The command may take a while to end after it, or continue for hours.
    private static let memory = 60

    private let grace: Int
    private let hasten: @Sendable () -> Void
    private let schedule: @Sendable (DispatchTime, @escaping @Sendable () -> Void) -> Void
    private let now: @Sendable () -> DispatchTime
    private let state = Guarded(State())

    /// - Parameters:
    ///   - grace: in seconds.
    ///   - schedule: runs its argument at a time.
    ///   - hasten: called once the close has to end soon, perhaps more than once.
    init(
        grace: Int,
        schedule: @escaping @Sendable (DispatchTime, @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: $0, execute: $1)
        },
        now: @escaping @Sendable () -> DispatchTime = { .now() },
        hasten: @escaping @Sendable () -> Void
    ) {
        self.grace = grace
        self.schedule = schedule
        self.now = now
        self.hasten = hasten
    }

    /// A signal came that ends the run.
    func signalled() {
        let now = self.now()
        let isClosing = self.state.withLock { state in
            state.signal = state.signal ?? now
            return state.isClosing
        }
        if isClosing { self.schedule(now + .seconds(self.grace), self.hasten) }
    }

    /// The close begins.
    func begin() {
        let now = self.now()
        let signal = self.state.withLock { state in
            state.isClosing = true
            return state.signal
        }
        guard let signal, now < signal + .seconds(Self.memory) else { return }
        self.schedule(max(now, signal + .seconds(self.grace)), self.hasten)
    }
}

/// Says what a stop waits for, if it takes longer than a moment.
final class StopNotice: Sendable {
    /// Milliseconds.
    private static let patience = 400
    /// The most requests that are named.
    private static let named = 3

    private let ended = Guarded(false)

    /// - Parameters:
    ///   - grace: in seconds.
    ///   - open: the requests that have no whole answer yet.
    init(_ screen: RunScreen, grace: Int, open: @escaping @Sendable () -> [String]) {
        let ended = self.ended
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.patience)) {
            guard !ended.withLock({ $0 }) else { return }
            screen.say(Self.text(grace: grace, open: open()))
        }
    }

    static func text(grace: Int, open: [String]) -> String {
        let seconds = grace == 1 ? "1 second" : "\(grace) seconds"
        guard !open.isEmpty else { return "waiting up to \(seconds) for exchanges that have not ended; Ctrl-C ends this at once." }
        let names = open.prefix(Self.named).joined(separator: ", ") + (open.count > Self.named ? ", …" : "")
        let count = open.count == 1 ? "1 exchange that has" : "\(open.count) exchanges that have"
        return "waiting up to \(seconds) for \(count) not ended (\(names)); Ctrl-C ends this at once."
    }

    func end() { self.ended.withLock { $0 = true } }
}

/// Reports that a close waits for searches: continuously on a terminal, and once elsewhere.
final class SearchProgress {
    /// How long nothing is printed, in tenths of a second.
    private static let patience = 10

    private let screen: RunScreen
    private let line = ProgressLine(label: "searching for secrets")
    private var calls = 0
    private var most = 0

    init(screen: RunScreen) { self.screen = screen }

    /// - Parameter left: the number of exchanges that are still being searched.
    func show(_ left: Int) {
        self.calls += 1
        self.most = max(self.most, left)
        guard self.calls >= Self.patience else { return }
        if self.calls == Self.patience, !Terminal.error.isTerminal {
            let exchanges = left == 1 ? "1 exchange" : "\(left) exchanges"
            self.screen.say("searching the bodies of \(exchanges) for secrets before the cassette is closed.")
        }
        self.line.show(self.most - left, of: self.most)
    }

    func end() { self.line.end() }
}
