internal import Dispatch
internal import Platform
internal import TapeBytes

/// Ends a command that goes on after Ctrl-C.
///
/// The terminal sends Ctrl-C to the command as well. Some handle it, such as a REPL or a test runner, so only a second one soon after the
/// first ends the command. Any thread may use it.
final class StubbornCommand: Sendable {
    private struct State: Sendable {
        var last: DispatchTime?
        var isTold = false
        var hasEnded = false
    }

    /// How soon the second Ctrl-C has to follow, in seconds.
    private static let pause = 2
    /// How many seconds a command has to end by itself before a line says how to end it.
    private static let patience = 1
    /// How many seconds it has after SIGTERM.
    private static let grace = 3

    private let schedule: @Sendable (DispatchTime, @escaping @Sendable () -> Void) -> Void
    private let now: @Sendable () -> DispatchTime
    private let say: @Sendable (String) -> Void
    private let send: @Sendable (Int32) -> Void
    private let state = Guarded(State())

    /// - Parameters:
    ///   - schedule: runs its argument at a time.
    ///   - say: prints a line.
    ///   - send: sends a signal to the command.
    init(
        schedule: @escaping @Sendable (DispatchTime, @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: $0, execute: $1)
        },
        now: @escaping @Sendable () -> DispatchTime = { .now() }, say: @escaping @Sendable (String) -> Void,
        send: @escaping @Sendable (Int32) -> Void
    ) {
        self.schedule = schedule
        self.now = now
        self.say = say
        self.send = send
    }

    /// Ctrl-C was pressed.
    func interrupted() {
        let now = self.now()
        let isSecond = self.state.withLock { state in
            defer { state.last = now }
            return state.last.map { now < $0 + .seconds(Self.pause) } ?? false
        }
        guard isSecond else { return self.schedule(now + .seconds(Self.patience)) { self.tell() } }
        guard !self.state.withLock({ $0.hasEnded }) else { return }
        self.say("ending the command, which goes on after Ctrl-C.")
        self.send(SIGTERM)
        self.schedule(now + .seconds(Self.grace)) {
            if !self.state.withLock({ $0.hasEnded }) { self.send(SIGKILL) }
        }
    }

    private func tell() {
        let isNews = self.state.withLock { state in
            defer { state.isTold = true }
            return !state.isTold && !state.hasEnded
        }
        if isNews {
            self.say("waiting for the command, which goes on after Ctrl-C: press it twice within \(Self.pause) seconds to end it.")
        }
    }

    /// The command has ended.
    func ended() { self.state.withLock { $0.hasEnded = true } }
}
