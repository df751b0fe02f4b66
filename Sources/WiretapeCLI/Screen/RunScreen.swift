internal import Dispatch
internal import TapeProxy

/// What a person sees while the proxy runs: lines on standard error and, on a terminal, a live line of counts below them.
///
/// With a program on the same terminal there is no live line, since it would write through the program's output.
final class RunScreen: Sendable {
    private let quiet: Bool
    private let errors: Terminal
    private let showsCounts: Bool
    /// Serial: lines and the live line never mix.
    private let queue = DispatchQueue(label: "wiretape.screen")
    private let stopping = DispatchSemaphore(value: 0)

    init(quiet: Bool, hasChild: Bool, output: Terminal = .output, errors: Terminal = .error) {
        self.quiet = quiet
        self.errors = errors
        self.showsCounts = !quiet && errors.isTerminal && !(hasChild && output.isTerminal)
    }

    /// Says a line, unless everything but errors was switched off.
    func say(_ text: String) {
        guard !self.quiet else { return }
        self.complain(text)
    }

    /// Says a line, or several, in any case. Control characters are spelled out: messages can hold what a stranger sent.
    func complain(_ text: String) {
        let text = VisibleText.whole(Array(text.utf8), .lines)
        self.queue.sync { self.errors.write((self.showsCounts ? "\r\u{1B}[K" : "") + "wiretape: \(text)\n") }
    }

    func showCounts(_ counts: @escaping @Sendable () -> ProxyCounts) {
        guard self.showsCounts else { return }
        DispatchQueue(label: "wiretape.counts").async { [queue, stopping, errors] in
            repeat {
                queue.sync { errors.write("\r\u{1B}[K" + Self.line(counts())) }
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
        self.queue.sync { self.errors.write("\r\u{1B}[K") }
    }
}
