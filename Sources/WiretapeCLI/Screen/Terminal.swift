internal import CassetteTools
internal import Platform

/// An output for people, and whether it may be coloured or rewritten.
///
/// Drops text that cannot be written: there is no other place to report it.
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

    /// In columns; 80 if the terminal does not report it.
    var width: Int {
        var size = winsize()
        guard ioctl(self.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func write(_ text: String) { self.write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Self.write($0, to: self.descriptor) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func line(_ text: String) { self.write(text + "\n") }

    /// Prints an error. Escapes control characters, because messages can contain names from a cassette.
    func complain(_ message: String) { self.line("wiretape: \(VisibleText.line(message))") }

    /// write(2), repeated when a signal interrupts it.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        while true {
            let count = Platform.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }
}
