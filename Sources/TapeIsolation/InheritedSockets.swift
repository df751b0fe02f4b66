internal import Platform

/// A socket of the machine's network that a process has from its parent.
package struct InheritedSocket: Sendable, Hashable {
    var descriptor: Int32
    var transport: IsolationReport.Transport
    /// Of its peer, or its own if it has none; empty if it has no address.
    var host = ""
    var port: UInt16?
}

extension InheritedSocket {
    /// One line, for the process outside.
    var text: String {
        let kind =
            switch self.transport {
            case .tcp: "6"
            case .udp: "17"
            case .icmp: "1"
            case .other(let number): "\(number)"
            case .family(let number): "f\(number)"
            }
        return "\(self.descriptor) \(kind) \(self.port.map { "\($0)" } ?? "-") \(self.host)"
    }

    /// Nil for anything but such a line.
    init?(text: some StringProtocol) {
        let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4, let descriptor = Int32(words[0]) else { return nil }
        if let number = UInt8(words[1]) {
            self.transport = .ofIP(Int32(number))
        } else if words[1].hasPrefix("f"), let family = Int32(words[1].dropFirst()) {
            self.transport = .family(family)
        } else {
            return nil
        }
        self.descriptor = descriptor
        self.port = UInt16(words[2])
        self.host = String(words[3])
        guard self.port != nil || words[2] == "-" else { return nil }
    }
}

extension IsolationReport.Transport {
    /// - Parameter number: of a protocol in IP, or as SO_PROTOCOL has it.
    static func ofIP(_ number: Int32) -> Self {
        switch number {
        // Multipath TCP (RFC 8684), whose number in Linux is none of IP.
        case 6, 262: .tcp
        case 17: .udp
        case 1, 58: .icmp
        default: .other(UInt8(clamping: number))
        }
    }
}

#if os(Linux)
/// The sockets of the machine's network that this process has from its parent. A socket stays in the network in which it was made, so that
/// an isolated program could talk through it.
package enum InheritedSockets {
    /// SO_DOMAIN and SO_PROTOCOL, which have these numbers on all systems that are supported.
    private static let (domain, transport): (Int32, Int32) = (39, 38)

    /// Lets those besides the standard streams end when this process becomes another program.
    package static func closeAtExec() throws(InsideNetwork.Obstacle) -> [InheritedSocket] {
        guard let open = self.open() else { throw InsideNetwork.Obstacle(step: .watching, number: errno) }
        return open.filter { $0 > STDERR_FILENO }.compactMap { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0, let socket = self.socket(descriptor) else { return nil }
            guard fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0 else { return nil }
            return socket
        }
    }

    /// The first standard stream that is one; nil if none is.
    static var standardStream: String? {
        let names = [(STDIN_FILENO, "standard input"), (STDOUT_FILENO, "standard output"), (STDERR_FILENO, "standard error")]
        return names.lazy.compactMap { descriptor, name in
            self.socket(descriptor).map { socket in
                guard let port = socket.port else { return name }
                return "\(name) (\(socket.host.contains(":") ? "[\(socket.host)]" : socket.host):\(port))"
            }
        }.first
    }

    /// Nil for anything but a socket of the network. Sockets of the file system are none. AF_ALG is the kernel's cryptography.
    private static func socket(_ descriptor: Int32) -> InheritedSocket? {
        guard let family = self.option(self.domain, of: descriptor), family != AF_UNIX, family != 38 else { return nil }
        guard family == AF_INET || family == AF_INET6 else { return InheritedSocket(descriptor: descriptor, transport: .family(family)) }
        let transport = IsolationReport.Transport.ofIP(self.option(self.transport, of: descriptor) ?? 0)
        let endpoint = self.end { getpeername(descriptor, $0, $1) } ?? self.end { getsockname(descriptor, $0, $1) }
        guard let endpoint, endpoint.port > 0 else { return InheritedSocket(descriptor: descriptor, transport: transport) }
        return InheritedSocket(descriptor: descriptor, transport: transport, host: endpoint.host, port: endpoint.port)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    private static func end(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> Endpoint? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // SAFETY: the storage has room for an address of any family.
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask($0, &size) }
        }
        return status == 0 ? Endpoint(storage) : nil
    }

    /// Nil if the system does not tell.
    private static func open() -> [Int32]? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var descriptors: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let number = Int32(name) { descriptors.append(number) }
        }
        return descriptors.sorted()
    }
}
#endif
