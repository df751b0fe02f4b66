internal import Dispatch
internal import TapeProxy

/// What a person sees while the proxy runs: lines on standard error and, on a terminal, a live line of counts below them.
///
/// With a program on the same terminal there is no live line, since it would write through the program's output.
final class RunScreen: Sendable {
    private let quiet: Bool
    let verbose: Bool
    private let showsCounts: Bool
    /// Serial: lines and the live line never mix.
    private let queue = DispatchQueue(label: "wiretape.screen")
    private let timer: any DispatchSourceTimer

    init(quiet: Bool, verbose: Bool, hasChild: Bool) {
        self.quiet = quiet
        self.verbose = verbose
        self.showsCounts = !quiet && Terminal.error.isTerminal && !(hasChild && Terminal.output.isTerminal)
        self.timer = DispatchSource.makeTimerSource(queue: self.queue)
    }

    /// Says a line, unless everything but errors was switched off.
    func say(_ text: String) {
        guard !self.quiet else { return }
        self.complain(text)
    }

    /// Says a line in any case.
    func complain(_ text: String) {
        self.queue.sync { Terminal.error.write((self.showsCounts ? "\r\u{1B}[K" : "") + "wiretape: \(text)\n") }
    }

    func showCounts(_ counts: @escaping @Sendable () -> ProxyCounts) {
        guard self.showsCounts else { return }
        self.timer.schedule(deadline: .now(), repeating: .milliseconds(200))
        self.timer.setEventHandler { Terminal.error.write("\r\u{1B}[K" + Self.line(counts())) }
        self.timer.activate()
    }

    static func line(_ counts: ProxyCounts) -> String {
        var parts = [Quantity.count(counts.exchanges + counts.replayed, "exchange"), Quantity.bytes(counts.bytes)]
        if counts.misses > 0 { parts.append(Quantity.count(counts.misses, "miss", plural: "misses")) }
        if counts.tunnels > 0 { parts.append(Quantity.count(counts.tunnels, "tunnel")) }
        return parts.joined(separator: ", ")
    }

    func stop() {
        guard self.showsCounts else { return }
        self.timer.cancel()
        self.queue.sync { Terminal.error.write("\r\u{1B}[K") }
    }
}
