internal import Platform

/// A process on this machine, distinguished from a later process with the same ID.
///
/// IDs are reused, so on Linux the start time (proc(5), `starttime`) identifies the process as well. If that cannot be read, as without
/// `/proc`, only the ID is compared, and a session may stay open longer.
public struct ProcessIdentity: Sendable, Hashable {
    public let id: Int32
    private let start: String?

    /// nil if there is no such process, or if it is in another PID namespace.
    public init?(_ id: Int32) {
        guard Self.exists(id) else { return nil }
        self.id = id
        self.start = Self.start(of: id)
    }

    /// Whether the process is still running.
    public var isRunning: Bool { Self.exists(self.id) && Self.start(of: self.id) == self.start }

    /// EPERM means that the process exists but belongs to another user.
    private static func exists(_ id: Int32) -> Bool { kill(id, 0) == 0 || errno == EPERM }

    private static func start(of id: Int32) -> String? {
        let file = open("/proc/\(id)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // The name, in parentheses, may contain spaces and parentheses. The state follows it.
        guard let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: bytes[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        // A zombie has ended, but its parent has not read its exit code yet.
        guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
        return String(fields[19])
    }
}
