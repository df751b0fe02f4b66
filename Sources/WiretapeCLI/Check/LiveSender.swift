internal import Platform
internal import TapeBytes
internal import TapeTLS

/// Sends requests through a proxy in this process, one at a time, and reads each answer to its end; the recorder keeps it.
struct LiveSender {
    private static let blockSize = 64 << 10
    /// The most bytes of the answer to a CONNECT.
    private static let headLimit = 64 << 10

    /// How many bytes of an answer are returned.
    private static let keptSize = 4 << 10

    let port: Int
    /// How long nothing may be sent or received.
    let seconds: Int
    /// Limits of the whole answer; nil for none.
    var limits: LiveSocket.Limits?
    /// Ends what is being sent, from another thread.
    var stop: LiveStop?

    /// - Returns: the beginning of the answer, if the proxy may have made it itself; empty through a tunnel.
    @discardableResult
    func send(_ request: LiveRequest) throws -> [UInt8] {
        var socket = try LiveSocket(port: self.port, seconds: self.seconds, limits: self.limits, stop: self.stop)
        guard request.isSecure else {
            try socket.send(request.bytes)
            return try Self.drain(&socket)
        }
        try socket.send(Array("CONNECT \(request.authority) HTTP/1.1\r\nHost: \(request.authority)\r\n\r\n".utf8))
        try self.awaitTunnel(&socket)
        try self.sendThroughTLS(request, &socket)
        return []
    }

    private static func drain(_ socket: inout LiveSocket) throws -> [UInt8] {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: self.blockSize, alignment: 16)
        defer { block.deallocate() }
        var kept: [UInt8] = []
        while true {
            let count = try socket.receive(into: block)
            guard count > 0 else { return kept }
            kept += block.prefix(min(count, self.keptSize - kept.count))
        }
    }

    /// Reads one byte at a time, so that nothing after the head is consumed.
    private func awaitTunnel(_ socket: inout LiveSocket) throws {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { block.deallocate() }
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard head.count < Self.headLimit, try socket.receive(into: block) == 1 else {
                throw LiveSocket.Failure(message: "no tunnel to the origin")
            }
            head.append(block[0])
        }
        guard head.starts(with: "HTTP/1.1 200".utf8) else {
            let line = String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)
            throw LiveSocket.Failure(message: "no tunnel to the origin (\(line))")
        }
    }

    /// The peer is this process and needs no verification. The proxy verifies the origin's certificate.
    private func sendThroughTLS(_ request: LiveRequest, _ socket: inout LiveSocket) throws {
        let context = try TLSClientContext(trustsSystem: false)
        let isName = request.host.contains { $0.isLetter } && !request.host.contains(":")
        let peer = TLSPeer(
            host: request.host, serverName: isName ? request.host : nil, protocols: ["http/1.1"], policy: .disabled)
        var connection = try TLSConnection(client: context, peer: peer)
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
        defer { block.deallocate() }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
        defer { room.deallocate() }
        var input = 0
        var isSent = false
        while true {
            let progress = connection.receive(UnsafeRawBufferPointer(rebasing: block[..<input])) { least, fill in
                if least <= room.count { return _ = fill(room) }
                let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: least, alignment: 16)
                defer { larger.deallocate() }
                _ = fill(larger)
            }
            if connection.isEstablished, !isSent {
                isSent = true
                var ciphertext: [UInt8] = []
                try Self.encrypt(request.bytes, &connection, into: &ciphertext)
                try socket.send(ciphertext)
            }
            try socket.send(connection.takeOutput { Array($0) })
            switch progress {
            case .needsInput, .hello: break
            case .ended: return
            case .failed(let failure):
                if isSent, input == 0 { return }
                throw failure
            }
            input = try socket.receive(into: block)
            guard input > 0 else { return }
        }
    }

    private static func encrypt(_ bytes: [UInt8], _ connection: inout TLSConnection, into ciphertext: inout [UInt8]) throws {
        var output = connection.takeOutput { Array($0) }
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, TLSFailure> in
            do throws(TLSFailure) {
                try connection.send(bytes) { wanted, fill in
                    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: wanted, alignment: 16)
                    defer { space.deallocate() }
                    output += space.prefix(fill(space))
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        ciphertext += output
        try result.get()
    }
}

/// Lets another thread end the connection that holds it.
final class LiveStop: Sendable {
    private struct State {
        var isStopped = false
        var descriptor: Int32?
    }

    private let state = Guarded(State())

    /// Anything received from now on counts as the end.
    func stop() {
        self.state.withLock { state in
            state.isStopped = true
            if let descriptor = state.descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    fileprivate func opened(_ descriptor: Int32) {
        self.state.withLock { state in
            state.descriptor = descriptor
            if state.isStopped { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Called before the descriptor can be reused for another connection.
    fileprivate func closes() { self.state.withLock { $0.descriptor = nil } }
}

/// A blocking TCP connection to a port of this machine, with a timeout.
struct LiveSocket: ~Copyable {
    struct Failure: Error, Hashable {
        var message: String
    }

    /// Limits of a whole answer, however steadily it arrives.
    struct Limits: Sendable {
        var seconds: Int
        var bytes: Int
    }

    private let descriptor: Int32
    private let seconds: Int
    private let limits: Limits?
    private let end: ContinuousClock.Instant?
    private let stop: LiveStop?
    private var received = 0

    init(port: Int, seconds: Int, limits: Limits? = nil, stop: LiveStop? = nil) throws(Failure) {
        let stream = streamSocket
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw Failure(message: "no socket (\(String(cString: strerror(errno))))") }
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] { Self.limit(descriptor, option, seconds: seconds) }
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else {
            let message = String(cString: strerror(errno))
            close(descriptor)
            throw Failure(message: "no connection to Wiretape's own proxy (\(message))")
        }
        self.descriptor = descriptor
        self.seconds = seconds
        self.limits = limits
        self.end = limits.map { .now + .seconds($0.seconds) }
        self.stop = stop
        stop?.opened(descriptor)
    }

    deinit {
        self.stop?.closes()
        close(self.descriptor)
    }

    func send(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Self.send(self.descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure() }
            sent += count
        }
    }

    /// Receives the next bytes; returns 0 at the end.
    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        while true {
            if let limits, let end {
                guard .now < end else {
                    throw Failure(message: "the answer had not ended after \(limits.seconds) s: the rest was not read")
                }
                guard self.received <= limits.bytes else {
                    throw Failure(message: "the answer has more than \(limits.bytes >> 20) MiB: the rest was not read")
                }
                // A silence ends when the time for the answer is over, at the latest.
                let left = Int((end - .now).components.seconds) + 1
                if left < self.seconds { Self.limit(self.descriptor, SO_RCVTIMEO, seconds: left) }
            }
            let count = recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure() }
            self.received += count
            return count
        }
    }

    private static func limit(_ descriptor: Int32, _ option: Int32, seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func failure() -> Failure {
        errno == EAGAIN || errno == EWOULDBLOCK
            ? Failure(message: "no answer in time") : Failure(message: String(cString: strerror(errno)))
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #elseif canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #else
        Musl.send(descriptor, bytes.baseAddress, bytes.count, MSG_NOSIGNAL)
        #endif
    }
}
