#if os(Linux)
internal import Platform

/// What the machine's network permits for ports, which a new network namespace does not know.
package struct PortRules {
    /// Files below /proc/sys/net, and what they have. Containers permit every port to every user, for example.
    private let values: [(file: String, value: String)]

    private static let files = [
        "ipv4/ip_unprivileged_port_start", "ipv4/ip_local_port_range", "ipv4/ip_local_reserved_ports", "ipv4/ip_nonlocal_bind",
        "ipv6/bindv6only",
    ]

    /// Those of the network that this process is in.
    package init() {
        self.values = Self.files.compactMap { file in Self.read(file).map { (file, $0) } }
    }

    /// Applies them to the network that this process is in, as far as /proc can be written, which it cannot in many containers.
    func apply() {
        // The first ports of two of them must not overlap, so that the order may matter.
        for _ in 0..<2 {
            for (file, value) in self.values where Self.read(file) != value { Self.write(value, to: file) }
        }
    }

    private static func read(_ file: String) -> String? {
        let descriptor = Platform.open("/proc/sys/net/\(file)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Platform.read(descriptor, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].filter { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private static func write(_ value: String, to file: String) {
        let descriptor = Platform.open("/proc/sys/net/\(file)", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array("\(value)\n".utf8)
        _ = Platform.write(descriptor, bytes, bytes.count)
    }
}
#endif
