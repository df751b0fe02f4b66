#if os(Linux)
internal import CIsolation
internal import Platform

/// What the machine's network permits for ports, which a new network namespace does not know.
package struct PortRules {
    /// Files below `sys/net` in /proc, and what they have. Containers permit every port to every user, for example.
    private let values: [(file: String, value: String)]

    private static let lowPorts = "ipv4/ip_unprivileged_port_start"
    /// The groups whose members may send pings without a right.
    private static let pings = "ipv4/ping_group_range"
    private static let files = [
        Self.lowPorts, "ipv4/ip_local_port_range", "ipv4/ip_local_reserved_ports", "ipv4/ip_nonlocal_bind", "ipv6/bindv6only", Self.pings,
    ]

    /// Those of the network that this process is in.
    package init() {
        self.values = Self.files.compactMap { file in
            Self.read(file).map { (file, file == Self.pings ? Self.ownGroup(in: $0) : $0) }
        }
    }

    /// A user's own namespace knows no other group than its own.
    private static func ownGroup(in range: String) -> String {
        let group = getegid()
        guard geteuid() != 0 else { return range }
        let ends = range.split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) }
        return ends.count == 2 && ends[0] <= group && group <= ends[1] ? "\(group)\t\(group)" : range
    }

    /// Applies them to the network that this process is in.
    ///
    /// In many containers, /proc cannot be written. Root may mount it once more. Any other user gets at least the right to listen on low
    /// ports, if it has that outside.
    ///
    /// - Parameter holder: an empty folder for such a mount.
    func apply(holder: String) {
        guard !self.apply(proc: "/proc") else { return }
        if wiretape_mount_proc(holder) == 0 {
            let isApplied = self.apply(proc: holder)
            _ = wiretape_unmount(holder)
            if isApplied { return }
        }
        // Root has this right anyway.
        guard geteuid() != 0, let wanted = self.values.first(where: { $0.file == Self.lowPorts }).flatMap({ Int($0.value) }),
            let present = Self.read(Self.lowPorts).flatMap({ Int($0) }), wanted < present
        else { return }
        _ = wiretape_keep_capability(UInt32(wiretape_cap_net_bind_service))
    }

    /// - Returns: whether all are in force.
    private func apply(proc: String) -> Bool {
        // The first ports of two of them must not overlap, so that the order may matter.
        for _ in 0..<2 {
            for (file, value) in self.values where Self.read(file) != value { Self.write(value, to: "\(proc)/sys/net/\(file)") }
        }
        return self.values.allSatisfy { Self.read($0.file) == $0.value }
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

    private static func write(_ value: String, to path: String) {
        let descriptor = Platform.open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array("\(value)\n".utf8)
        _ = Platform.write(descriptor, bytes, bytes.count)
    }
}
#endif
