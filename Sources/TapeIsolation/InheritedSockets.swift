#if os(Linux)
internal import Platform

/// Sockets of the machine's network that this process has from its parent. A socket stays in the network in which it was made, so that an
/// isolated program could talk through it.
package enum InheritedSockets {
    /// SO_DOMAIN, which has this number on all systems that are supported.
    private static let domain: Int32 = 39

    /// Lets those besides the standard streams end when this process becomes another program.
    ///
    /// - Returns: a description of each, such as `descriptor 3 (203.0.113.10:80)`.
    package static func closeAtExec() -> [String] {
        self.open().filter { $0 > STDERR_FILENO }.compactMap { descriptor in
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, flags & FD_CLOEXEC == 0, self.isOfNetwork(descriptor) else { return nil }
            guard fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0 else { return nil }
            return "descriptor \(descriptor)\(self.peer(of: descriptor))"
        }
    }

    /// The first standard stream that is one; nil if none is.
    static var standardStream: String? {
        let names = [(STDIN_FILENO, "standard input"), (STDOUT_FILENO, "standard output"), (STDERR_FILENO, "standard error")]
        return names.first { self.isOfNetwork($0.0) }.map { "\($0.1)\(self.peer(of: $0.0))" }
    }

    private static func isOfNetwork(_ descriptor: Int32) -> Bool {
        var family: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, self.domain, &family, &size) == 0 else { return false }
        // Sockets of the file system are not of the network. AF_ALG is the kernel's cryptography.
        return family != AF_UNIX && family != 38
    }

    private static func peer(of descriptor: Int32) -> String {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // SAFETY: the storage has room for an address of any family.
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
        }
        guard status == 0, let endpoint = Endpoint(storage) else { return "" }
        let host = endpoint.address.bytes.count == 4 ? endpoint.host : "[\(endpoint.host)]"
        return " (\(host):\(endpoint.port))"
    }

    private static func open() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
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
