internal import Platform

/// What the system says of its own rules for namespaces; nil where it says nothing.
struct NamespaceFacts: Hashable {
    var isRoot = false
    /// 2 where a filter decides which calls of the system are allowed: containers have one.
    var seccomp: Int?
    /// `user.max_user_namespaces`.
    var maxUserNamespaces: Int?
    /// `kernel.unprivileged_userns_clone`, of Debian's older kernels.
    var unprivilegedClone: Int?
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu's newer ones.
    var appArmorRestricts: Int?

    static func read(isRoot: Bool = geteuid() == 0, file: (String) -> String? = Self.text) -> NamespaceFacts {
        func number(_ path: String) -> Int? { file(path).flatMap { Int($0.filter { !$0.isWhitespace }) } }
        let seccomp = file("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("Seccomp:") }
        return NamespaceFacts(
            isRoot: isRoot, seccomp: seccomp.flatMap { Int($0.dropFirst(8).filter { !$0.isWhitespace }) },
            maxUserNamespaces: number("/proc/sys/user/max_user_namespaces"),
            unprivilegedClone: number("/proc/sys/kernel/unprivileged_userns_clone"),
            appArmorRestricts: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"))
    }

    /// A file of the kernel's, which says that it has no octets.
    static func text(_ path: String) -> String? {
        guard let stream = fopen(path, "re") else { return nil }
        defer { fclose(stream) }
        var block = [UInt8](repeating: 0, count: 16 << 10)
        let count = fread(&block, 1, block.count, stream)
        return String(decoding: block[..<count], as: UTF8.self)
    }
}
