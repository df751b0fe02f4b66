#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Where text for people goes, and whether it may be coloured or rewritten.
struct Terminal: Sendable {
    private let descriptor: Int32
    let isTerminal: Bool
    let usesColor: Bool

    static let output = Terminal(STDOUT_FILENO)
    static let error = Terminal(STDERR_FILENO)

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        self.isTerminal = isatty(descriptor) == 1
        // https://no-color.org; TERM=dumb cannot colour.
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        let forbids = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
        self.usesColor = self.isTerminal && !isDumb && !forbids
    }

    /// Columns, 80 where nobody knows.
    var width: Int {
        var size = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { unistd_write(self.descriptor, $0) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    func line(_ text: String) { self.write(text + "\n") }
}

/// write(2), taken up again when a signal interrupts it.
private func unistd_write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    while true {
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        if count >= 0 || errno != EINTR { return count }
    }
}
