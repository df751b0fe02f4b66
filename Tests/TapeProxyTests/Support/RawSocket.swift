import NIOCore
import Platform

/// Makes the descriptors under `RawConnection` and `RawOrigin`.
enum RawSocket {
    static func open(_ host: String, port: Int) throws -> (descriptor: Int32, address: SocketAddress) {
        let address = try SocketAddress(ipAddress: host, port: port)
        let kind = streamSocket
        let descriptor = socket(host.contains(":") ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else { throw RawError("no socket for \(host) (errno \(errno))") }
        return (descriptor, address)
    }

    /// Listens on a free port, or reserves a port without listening.
    static func bound(_ host: String, listens: Bool = true) throws -> (descriptor: Int32, port: Int) {
        let (descriptor, address) = try self.open(host, port: 0)
        let status = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
        guard status == 0, !listens || listen(descriptor, 64) == 0 else {
            close(descriptor)
            throw RawError("cannot listen on \(host) (errno \(errno))")
        }
        var own = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // SAFETY: sockaddr_storage is large and aligned enough for every address.
        let port = withUnsafeMutableBytes(of: &own) { bytes -> Int in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), getsockname(descriptor, base, &size) == 0 else {
                return 0
            }
            // The port follows the family in both kinds of address.
            return Int(bytes[2]) << 8 | Int(bytes[3])
        }
        return (descriptor, port)
    }

    /// Whether the event happens on the descriptor within the time.
    static func waits(_ descriptor: Int32, for events: Int32, milliseconds: Int) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let count = poll(&entry, 1, Int32(milliseconds))
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }
}
