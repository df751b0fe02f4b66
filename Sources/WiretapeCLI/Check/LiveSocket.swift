internal import Platform

/// A TCP connection to a port of this machine that waits, with a limit, where it must.
struct LiveSocket: ~Copyable {
    struct Failure: Error, Hashable {
        var message: String
    }

    private let descriptor: Int32

    init(port: Int, seconds: Int) throws(Failure) {
        let stream = streamSocket
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw Failure(message: "no socket (\(String(cString: strerror(errno))))") }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
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
            throw Failure(message: "no connection to the own proxy (\(message))")
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    func send(_ octets: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < octets.count {
            let count = octets[sent...].withUnsafeBytes { Self.send(self.descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure() }
            sent += count
        }
    }

    /// The next octets; none at the end.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
        while true {
            let count = recv(self.descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure() }
            return count
        }
    }

    private static func failure() -> Failure {
        errno == EAGAIN || errno == EWOULDBLOCK
            ? Failure(message: "no answer in time") : Failure(message: String(cString: strerror(errno)))
    }

    private static func send(_ descriptor: Int32, _ octets: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.send(descriptor, octets.baseAddress, octets.count, 0)
        #elseif canImport(Glibc)
        Glibc.send(descriptor, octets.baseAddress, octets.count, Int32(MSG_NOSIGNAL))
        #else
        Musl.send(descriptor, octets.baseAddress, octets.count, MSG_NOSIGNAL)
        #endif
    }
}
