/// One line on a terminal that says how far something has come; nothing where there is no terminal.
final class ProgressLine {
    private let label: String
    private let terminal: Terminal
    private var shown = -1

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

    func end() {
        guard self.shown >= 0 else { return }
        self.terminal.write("\r\u{1B}[K")
    }
}
