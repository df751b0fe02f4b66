import NIOCore
import Platform

/// One end of a TCP connection, with blocking calls on raw bytes. Each gives up after two minutes, far longer than any takes on a busy
/// machine.
///
/// Not Sendable: belongs to one thread.
class RawConnection {
    /// How a peer ended its side.
    enum End: Equatable {
        case closed, reset
        /// A TLS connection's end without close_notify.
        case truncated
    }

    /// Seconds before a wait fails its test.
    static let patience = 120

    private let descriptor: Int32
    private var buffer: [UInt8]
    private var space = [UInt8](repeating: 0, count: 256 << 10)
    var end: End?
    private var isClosed = false

    init(descriptor: Int32) {
        self.descriptor = descriptor
        self.buffer = []
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        #if !canImport(Glibc) && !canImport(Musl)
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// - Parameter receives: the size of the receive buffer in bytes; nil leaves it to the kernel.
    convenience init(to host: String = "127.0.0.1", port: Int, receives: Int32? = nil) throws {
        let (descriptor, address) = try RawSocket.open(host, port: port)
        self.init(descriptor: descriptor)
        if var receives {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receives, socklen_t(MemoryLayout<Int32>.size))
        }
        guard address.withSockAddr({ connect(descriptor, $0, socklen_t($1)) }) == 0 else {
            throw RawError("no connection to \(host):\(port) (errno \(errno))")
        }
    }

    /// Replaces another connection, which counts as closed from now on.
    ///
    /// - Returns: in `unread`, the bytes that were read from it but not used yet.
    init(replacing other: RawConnection, unread: inout [UInt8]) {
        self.descriptor = other.descriptor
        self.buffer = []
        unread = other.buffer
        other.buffer = []
        other.isClosed = true
    }

    deinit { self.close() }

    // MARK: Sending

    #if canImport(Glibc) || canImport(Musl)
    private static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    #else
    private static let sendFlags = Int32(MSG_DONTWAIT)
    #endif

    func send(_ text: String) throws { try self.send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        let sent = try self.send(bytes, milliseconds: Self.patience * 1000)
        guard sent == bytes.count else { throw RawError("the peer took \(sent) of \(bytes.count) bytes and no more") }
    }

    /// Sends until everything is sent or the peer has accepted nothing for this long. Returns how much was accepted.
    func send(_ bytes: [UInt8], milliseconds: Int) throws -> Int {
        var offset = 0
        while offset < bytes.count, RawSocket.waits(self.descriptor, for: Int32(POLLOUT), milliseconds: milliseconds) {
            let count = bytes.withUnsafeBytes { bytes in
                sendto(self.descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset, Self.sendFlags, nil, 0)
            }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count >= 0 else { throw RawError("the peer broke the connection after \(offset) bytes (errno \(errno))") }
            offset += count
        }
        return offset
    }

    /// Limits how many sent but not yet received bytes the kernel buffers.
    func limitSending(to count: Int32) {
        var count = count
        setsockopt(self.descriptor, SOL_SOCKET, SO_SNDBUF, &count, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Reading

    /// Reads the available bytes, at least one, into the buffer; false at the end.
    private func fill() throws -> Bool {
        guard self.end == nil, let bytes = try self.next() else { return false }
        self.buffer.append(contentsOf: bytes)
        return true
    }

    /// Waits for bytes; nil if the peer has ended its side, which sets `end`.
    func next() throws -> [UInt8]? {
        guard RawSocket.waits(self.descriptor, for: Int32(POLLIN), milliseconds: Self.patience * 1000) else {
            throw RawError("nothing came for \(Self.patience) s behind \(RawError.text(self.buffer))")
        }
        let count = self.space.withUnsafeMutableBytes { recv(self.descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else {
            self.end = count == 0 ? .closed : .reset
            return nil
        }
        return Array(self.space[..<count])
    }

    private func take(_ count: Int) -> [UInt8] {
        let taken = Array(self.buffer[..<count])
        self.buffer.removeSubrange(..<count)
        return taken
    }

    func read(count: Int) throws -> [UInt8] {
        while self.buffer.count < count {
            guard try self.fill() else { throw RawError("the peer ended behind \(RawError.text(self.buffer))") }
        }
        return self.take(count)
    }

    /// Reads up to and including the next `mark`.
    func read(through mark: String) throws -> [UInt8] {
        let mark = Array(mark.utf8)
        var start = 0
        while true {
            while start + mark.count <= self.buffer.count {
                if self.buffer[start..<start + mark.count].elementsEqual(mark) { return self.take(start + mark.count) }
                start += 1
            }
            guard try self.fill() else { throw RawError("the peer ended behind \(RawError.text(self.buffer))") }
        }
    }

    /// Reads exactly these bytes.
    func expect(_ text: String) throws {
        let wanted = Array(text.utf8)
        while self.buffer.count < wanted.count, wanted.starts(with: self.buffer), try self.fill() {}
        guard self.buffer.starts(with: wanted) else {
            throw RawError("\(RawError.text(self.buffer)) came in the place of \(RawError.text(wanted))")
        }
        self.buffer.removeSubrange(..<wanted.count)
    }

    /// Reads until the peer ends its side.
    func readToEnd() throws -> (bytes: [UInt8], end: End) {
        while try self.fill() {}
        return (self.take(self.buffer.count), self.end ?? .closed)
    }

    /// Reads a message by its Content-Length, or only a head if there is none.
    func readMessage() throws -> [UInt8] {
        let head = try self.read(through: "\r\n\r\n")
        for line in String(decoding: head, as: UTF8.self).split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            guard let length = Int(line.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) else { continue }
            return head + (try self.read(count: length))
        }
        return head
    }

    /// Reads a request's head and checks how its first line begins: `GET /a`.
    @discardableResult
    func expectRequest(_ start: String) throws -> String {
        let head = String(decoding: try self.read(through: "\r\n\r\n"), as: UTF8.self)
        guard head.hasPrefix("\(start) HTTP/1.") else { throw RawError("\(RawError.text(Array(head.utf8))) came in the place of \(start)") }
        return head
    }

    /// Waits for the peer's end, and accepts nothing else.
    func expectEnd(_ wanted: End = .closed) throws {
        let (bytes, end) = try self.readToEnd()
        guard bytes.isEmpty, end == wanted else { throw RawError("\(RawError.text(bytes)) and \(end) came in the place of \(wanted)") }
    }

    // MARK: Shutdown

    func closeOutput() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset.
    func reset() {
        var lingers = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &lingers, socklen_t(MemoryLayout<linger>.size))
        self.close()
    }

    func close() {
        guard !self.isClosed else { return }
        self.isClosed = true
        _ = Platform.close(self.descriptor)
    }
}
