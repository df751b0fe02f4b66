internal import Platform
internal import TapeProxy

/// Whether somebody listens on a port of this machine. Sends nothing.
enum LocalPort {
    /// - Returns: nil for an address that is not a loopback address of IPv4 or `localhost`: others are not asked.
    static func isOpen(_ address: ListenAddress) -> Bool? {
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        var socketAddress = sockaddr_in()
        guard host.hasPrefix("127."), inet_pton(AF_INET, host, &socketAddress.sin_addr) == 1 else { return nil }
        socketAddress.sin_family = sa_family_t(AF_INET)
        socketAddress.sin_port = in_port_t(truncatingIfNeeded: address.port).bigEndian
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafePointer(to: &socketAddress) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
