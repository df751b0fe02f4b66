internal import CassetteTools
internal import Dispatch
internal import TapeBytes
internal import TapeProxy

/// The output for a person while the proxy runs: lines on standard error and, on a terminal, a live line of counts below them.
///
/// If a program uses the same terminal, there is no live line, since the program would write through it.
final class RunScreen: Sendable {
    private let quiet: Bool
    private let errors: Terminal
    private let showsCounts: Bool
    /// Serial: keeps messages and the live line apart.
    private let queue = DispatchQueue(label: "wiretape.screen")
    private let stopping = DispatchSemaphore(value: 0)
    /// The live line that is on the screen; empty if there is none.
    private let shown = Guarded("")

    init(quiet: Bool, hasChild: Bool, output: Terminal = .output, errors: Terminal = .error) {
        self.quiet = quiet
        self.errors = errors
        self.showsCounts = !quiet && errors.isTerminal && !(hasChild && output.isTerminal)
    }

    /// Prints a line unless `quiet`.
    func say(_ text: String) {
        guard !self.quiet else { return }
        self.complain(text)
    }

    /// Prints one or more lines in any case. Escapes control characters, because messages can contain text from strangers.
    func complain(_ text: String) {
        let text = VisibleText.whole(Array(text.utf8), .lines)
        self.queue.sync {
            self.errors.write((self.showsCounts ? "\r\u{1B}[K" : "") + "wiretape: \(text)\n" + self.shown.withLock { $0 })
        }
    }

    /// Prints a line as it is, which must be safe for a terminal.
    func line(_ text: String) {
        self.queue.sync { self.errors.write((self.showsCounts ? "\r\u{1B}[K" : "") + text + "\n" + self.shown.withLock { $0 }) }
    }

    func showCounts(_ counts: @escaping @Sendable () -> ProxyCounts) {
        guard self.showsCounts else { return }
        DispatchQueue(label: "wiretape.counts").async { [queue, stopping, errors, shown] in
            repeat {
                let line = Self.line(counts())
                // A line that is written again and again cannot be selected, and fills logs of terminals.
                queue.sync {
                    guard shown.withLock({ $0 != line }) else { return }
                    shown.withLock { $0 = line }
                    errors.write("\r\u{1B}[K" + line)
                }
            } while stopping.wait(timeout: .now() + .milliseconds(200)) == .timedOut
        }
    }

    static func line(_ counts: ProxyCounts) -> String {
        var parts = [Quantity.count(counts.exchanges + counts.replayed, "exchange"), Quantity.bytes(counts.bytes)]
        if counts.misses > 0 { parts.append(Quantity.count(counts.misses, "miss", plural: "misses")) }
        if counts.tunnels > 0 { parts.append(Quantity.count(counts.tunnels, "tunnel")) }
        return parts.joined(separator: ", ")
    }

    func stop() {
        guard self.showsCounts else { return }
        self.stopping.signal()
        self.queue.sync {
            self.shown.withLock { $0 = "" }
            self.errors.write("\r\u{1B}[K")
        }
    }
}

/// A line on a terminal that shows progress; prints nothing if there is no terminal.
final class ProgressLine {
    private let label: String
    /// Between two lines whose number of steps is unknown.
    private static let pause = Duration.milliseconds(100)

    private let terminal: Terminal
    private var shown = -1
    private var last: ContinuousClock.Instant?

    init(label: String, terminal: Terminal = .error) {
        self.label = label
        self.terminal = terminal
    }

    func show(_ done: Int, of count: Int) {
        guard self.terminal.isTerminal, count > 0 else { return }
        let percent = done * 100 / count
        guard percent != self.shown else { return }
        self.shown = percent
        self.terminal.write("\r\u{1B}[K\(self.label) \(done) of \(count) (\(percent) %)")
    }

    /// For work whose end is unknown.
    func show(_ words: String, at time: ContinuousClock.Instant = .now) {
        guard self.terminal.isTerminal, self.last.map({ time - $0 >= Self.pause }) ?? true else { return }
        self.last = time
        self.shown = 0
        self.terminal.write("\r\u{1B}[K\(self.label) \(words)")
    }

    func end() {
        guard self.shown >= 0 else { return }
        self.shown = -1
        self.terminal.write("\r\u{1B}[K")
    }
}
