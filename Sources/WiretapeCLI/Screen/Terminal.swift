internal import Platform

/// Where text for people goes, and whether it may be coloured or rewritten.
///
/// Text that cannot be written is dropped: there is nobody left to tell.
struct Terminal: Sendable {
    private let descriptor: Int32
    let isTerminal: Bool
    let usesColor: Bool

    static let input = Terminal(STDIN_FILENO)
    static let output = Terminal(STDOUT_FILENO)
    static let error = Terminal(STDERR_FILENO)

    init(_ descriptor: Int32, kind: String? = Self.variable("TERM"), noColor: String? = Self.variable("NO_COLOR")) {
        self.descriptor = descriptor
        self.isTerminal = isatty(descriptor) == 1
        // https://no-color.org: set and not empty. TERM=dumb cannot colour.
        self.usesColor = self.isTerminal && kind != nil && kind != "dumb" && (noColor ?? "").isEmpty
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Columns, 80 where nobody knows.
    var width: Int {
        var size = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func write(_ text: String) { self.write(Array(text.utf8)) }

    func write(_ octets: [UInt8]) {
        var bytes = octets[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Self.write($0, to: self.descriptor) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    func line(_ text: String) { self.write(text + "\n") }

    /// Says what went wrong. Control characters are spelled out: messages can hold names out of a cassette.
    func complain(_ message: String) { self.line("wiretape: \(VisibleText.line(message))") }

    /// write(2), taken up again when a signal interrupts it.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        while true {
            let count = Platform.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
