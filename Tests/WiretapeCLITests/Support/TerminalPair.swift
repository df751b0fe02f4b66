import Platform
import TapeTestSupport

/// A terminal without a viewer, and the text that is written to it.
final class TerminalPair {
    /// The side to which a program writes.
    let descriptor: Int32
    private let screen: Int32

    init(columns: UInt16 = 100) throws {
        var size = winsize()
        size.ws_col = columns
        var screen: Int32 = -1
        var descriptor: Int32 = -1
        guard openpty(&screen, &descriptor, nil, nil, &size) == 0 else {
            throw TestProblem("no pseudo terminal (\(String(cString: strerror(errno))))")
        }
        self.screen = screen
        self.descriptor = descriptor
        // Programs that other tests start in the meantime must not inherit it.
        _ = fcntl(screen, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Raw bytes: no carriage return before a line feed.
        var modes = termios()
        tcgetattr(self.descriptor, &modes)
        modes.c_oflag &= ~tcflag_t(OPOST)
        tcsetattr(self.descriptor, TCSANOW, &modes)
    }

    deinit {
        close(self.descriptor)
        close(self.screen)
    }

    /// The text that has been written since the last call.
    func written() -> String {
        var text: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        var wanted = pollfd(fd: self.screen, events: Int16(POLLIN), revents: 0)
        while poll(&wanted, 1, 0) == 1 {
            let count = block.withUnsafeMutableBytes { read(self.screen, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            text += block[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }
}
