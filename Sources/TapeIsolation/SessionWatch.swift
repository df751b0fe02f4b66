internal import CIsolation
internal import Dispatch
internal import Platform
internal import TapeBytes
internal import TapeExchange

/// A connection of an isolated program that a session refused, as a line between the session and the process that isolates the program.
package struct SessionRefusal: Sendable, Hashable {
    /// The port from which that process connected to the session.
    package var port: Int
    package var target: IsolationSettings.Passage
    package var reason: IsolationReport.Reason

    package init(port: Int, target: IsolationSettings.Passage, reason: IsolationReport.Reason) {
        self.port = port
        self.target = target
        self.reason = reason
    }

    package var line: String { "refused \(self.port) \(self.reason.rawValue) \(self.target.port) \(self.target.host)" }

    /// Nil for anything but such a line.
    package init?(line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 4)
        guard words.count == 5, words[0] == "refused", let port = Int(words[1]),
            let reason = IsolationReport.Reason(rawValue: String(words[2])),
            let number = UInt16(words[3])
        else { return nil }
        self.init(port: port, target: .init(host: String(words[4]), port: number), reason: reason)
    }

    /// The first line, which says what the session does.
    package static func greeting(mayForward: Bool) -> String { mayForward ? "forwards" : "replays" }
}

#if os(Linux)
/// A connection to a session, over which it tells what becomes of the isolated program's connections.
package final class SessionWatch: Sendable {
    package struct Problem: Error, Hashable {
        package var message: String
    }

    /// Whether the session's connections may leave the machine.
    package let mayForward: Bool
    private let socket: Int32
    /// What came after the first line.
    private let rest: Lines
    private let isRunning = Guarded(false)
    private let ended = DispatchSemaphore(value: 0)

    /// Seconds for the session's answer.
    private static let patience = 10

    /// Connects and waits for the first line.
    ///
    /// - Parameters:
    ///   - host: `localhost` or an address of loopback.
    ///   - login: the session's name and password.
    package init(host: String, port: Int, login: (user: [UInt8], password: [UInt8])?) throws(Problem) {
        let socket = try Self.connect(host, port)
        var lines = Lines()
        do throws(Problem) {
            try Self.enter(socket, login, &lines)
            guard let first = lines.next(from: socket) else { throw Problem(message: "the session closed the connection") }
            self.mayForward = first == SessionRefusal.greeting(mayForward: true)
        } catch {
            close(socket)
            throw error
        }
        var limit = timeval(tv_sec: 0, tv_usec: 0)
        _ = setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        self.socket = socket
        self.rest = lines
    }

    deinit { close(self.socket) }

    /// Lists what the session refuses, until `stop`.
    package func start(for isolation: Isolation) {
        let isStarted = DedicatedThread.start {
            var lines = self.rest
            while let line = lines.next(from: self.socket) {
                if let refusal = SessionRefusal(line: line) { isolation.refused(refusal) }
            }
            self.ended.signal()
        }
        self.isRunning.withLock { $0 = isStarted }
    }

    /// Reads what has arrived until now, and ends.
    package func stop() {
        guard self.isRunning.withLock({ $0 }) else { return }
        // What has arrived can still be read.
        shutdown(self.socket, Int32(SHUT_RD))
        self.ended.wait()
    }

    private static func connect(_ host: String, _ port: Int) throws(Problem) -> Int32 {
        let addresses = host == "localhost" ? ["127.0.0.1", "::1"] : [host]
        var problem = "it has no address"
        for address in addresses {
            guard let endpoint = UInt16(exactly: port).flatMap({ Endpoint(address, port: $0) }) else { continue }
            let family = endpoint.address.bytes.count == 4 ? AF_INET : AF_INET6
            let socket = Platform.socket(family, LinuxSocket.stream | LinuxSocket.closeAtExec, 0)
            guard socket >= 0 else { throw Problem(message: String(cString: strerror(errno))) }
            var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
            _ = setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            var (storage, size) = endpoint.storage
            // SAFETY: the storage holds an address of this size.
            let status = withUnsafePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Platform.connect(socket, $0, size) }
            }
            if status == 0 { return socket }
            problem = String(cString: strerror(errno))
            close(socket)
        }
        throw Problem(message: "it cannot be reached (\(problem))")
    }

    /// Logs in and asks for news.
    private static func enter(
        _ socket: Int32, _ login: (user: [UInt8], password: [UInt8])?, _ lines: inout Lines
    ) throws(Problem) {
        var client = SOCKSClient(host: .name("localhost"), port: 1, login: login, for: .watch)
        var step = TunnelStep.send(client.greeting)
        while true {
            switch step {
            case .send(let bytes):
                guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                    throw Problem(message: "it closed the connection")
                }
            case .needsMore:
                guard lines.read(from: socket) else { throw Problem(message: "it closed the connection, or did not answer") }
            case .open: return
            case .failed(.needsLogin): throw Problem(message: "it has no open session with this name and password")
            case .failed(.refused), .failed(.unreachable):
                throw Problem(message: "it does not tell what it refuses: is it of another version?")
            case .failed(.notThisProtocol), .failed(.ring): throw Problem(message: "it is no port of \"wiretape serve\"")
            }
            step = client.receive(&lines.bytes)
        }
    }

    /// Lines of a stream.
    private struct Lines: Sendable {
        var bytes: ArraySlice<UInt8> = []

        /// - Returns: false at the end of the stream.
        mutating func read(from socket: Int32) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var count: Int
            repeat { count = recv(socket, &buffer, buffer.count, 0) } while count < 0 && errno == EINTR
            guard count > 0 else { return false }
            self.bytes += buffer[..<count]
            return true
        }

        /// Waits for a line; nil at the end of the stream.
        mutating func next(from socket: Int32) -> String? {
            while true {
                if let end = self.bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: self.bytes[..<end], as: UTF8.self)
                    self.bytes = self.bytes[(end + 1)...]
                    return line
                }
                guard self.read(from: socket) else { return nil }
            }
        }
    }
}
#endif
