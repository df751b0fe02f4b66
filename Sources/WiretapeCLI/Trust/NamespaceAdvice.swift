internal import Platform
internal import TapeIsolation

/// Why a program cannot have namespaces of its own, and what to do about it.
///
/// Uses the first row of a table that matches the obstacle and the system's facts.
struct NamespaceAdvice: Hashable {
    /// The reason, without a full stop.
    var reason: String
    /// The remedy, without a full stop.
    var remedy: String

    private struct Row: Sendable {
        var fits: @Sendable (NamespaceObstacle, NamespaceFacts) -> Bool
        var reason: String
        var remedy: String
    }

    private static let rows: [Row] = [
        Row(
            fits: { obstacle, _ in obstacle.step == .nothingToCover }, reason: "no bundle of the system's roots was found",
            remedy: "install the package ca-certificates"),
        Row(
            fits: { obstacle, _ in obstacle.step == .library }, reason: "libnftables.so.1 cannot be loaded",
            remedy: "install the package libnftables1"),
        Row(
            fits: { obstacle, facts in
                facts.seccomp == 2 && [.link, .sockets, .watching].contains(obstacle.step)
                    && [EPERM, EACCES, ENOSYS, EAFNOSUPPORT].contains(obstacle.number)
            },
            reason: "a seccomp filter is in force, as in a container or a service of systemd",
            remedy: "let the filter permit sockets of AF_NETLINK and raw sockets"),
        Row(
            fits: { obstacle, _ in [.link, .sockets, .watching, .rules].contains(obstacle.step) },
            reason: "the kernel does not permit or lacks a part of this network",
            remedy: "run as root, or with a kernel that has nft_tproxy, nft_socket and nfnetlink_log"),
        Row(
            fits: { obstacle, facts in obstacle.number == ENOSPC && facts.maxNetworkNamespaces == 0 },
            reason: "user.max_net_namespaces is 0", remedy: "\"sysctl user.max_net_namespaces=10000\""),
        Row(
            fits: { _, facts in facts.maxUserNamespaces == 0 && !facts.isRoot }, reason: "user.max_user_namespaces is 0",
            remedy: "run as root, or \"sysctl user.max_user_namespaces=10000\""),
        Row(
            fits: { obstacle, _ in obstacle.number == ENOSPC }, reason: "there are as many namespaces as user.max_*_namespaces permits",
            remedy: "raise the limit with sysctl"),
        Row(
            fits: { _, facts in facts.unprivilegedClone == 0 && !facts.isRoot }, reason: "kernel.unprivileged_userns_clone is 0",
            remedy: "run as root, or \"sysctl kernel.unprivileged_userns_clone=1\""),
        Row(
            fits: { _, facts in facts.seccomp == 2 }, reason: "a seccomp filter is in force, as in a container",
            remedy: "start the container with --cap-add SYS_ADMIN, and if that is not enough, --security-opt seccomp=unconfined"),
        Row(
            fits: { _, facts in facts.appArmorRestricts == 1 && !facts.isRoot },
            reason: "kernel.apparmor_restrict_unprivileged_userns is 1",
            remedy: "run as root, or \"sysctl kernel.apparmor_restrict_unprivileged_userns=0\""),
        Row(
            fits: { obstacle, facts in obstacle.step == .unshareUser && facts.isRoot },
            reason: "this process is root without CAP_SYS_ADMIN, as in a container",
            remedy: "start the container with --cap-add SYS_ADMIN"),
        Row(
            fits: { obstacle, _ in obstacle.step == .unshareUser }, reason: "unprivileged user namespaces are forbidden",
            remedy: "run as root"),
        Row(
            fits: { obstacle, _ in obstacle.step == .propagation && obstacle.number == EINVAL },
            reason: "the root folder is not a mount point, as in a chroot", remedy: "run outside of it"),
    ]

    init(reason: String, remedy: String) {
        self.reason = reason
        self.remedy = remedy
    }

    init(_ obstacle: NamespaceObstacle, _ facts: NamespaceFacts) {
        let row = Self.rows.first { $0.fits(obstacle, facts) }
        let call =
            switch obstacle.step {
            case .unshare: "unshare"
            case .unshareUser: "unshare(CLONE_NEWUSER)"
            case .numbers: "writing the user's number into the namespace"
            case .propagation: "making mounts private"
            case .cover: "mounting a bundle over the system's"
            case .folder: "mounting a folder of roots over the system's"
            case .resolver: "mounting the resolver's settings over the system's"
            case .link: "setting up the loopback interface"
            case .sockets: "opening a socket in the new network"
            case .watching: "opening a socket that watches the new network"
            case .dialer: "starting the process that opens sockets in the new network"
            case .rules: "loading the rules of nftables"
            case .library, .nothingToCover: ""
            case .unknown: "trying it"
            }
        let error = obstacle.number == 0 ? "" : " failed with \(Self.name(obstacle.number)) (\(String(cString: strerror(obstacle.number))))"
        let detail = obstacle.detail.isEmpty ? "" : " (\(obstacle.detail))"
        let parts = [call.isEmpty ? "" : call + (error.isEmpty ? " failed" : error) + detail, row?.reason ?? ""].filter { !$0.isEmpty }
        self.reason = parts.joined(separator: ", and ")
        self.remedy = row?.remedy ?? "run as root"
    }

    private static func name(_ number: Int32) -> String {
        let names = [
            EPERM: "EPERM", EACCES: "EACCES", ENOSPC: "ENOSPC", EINVAL: "EINVAL", ENOSYS: "ENOSYS", ENOENT: "ENOENT", ENODEV: "ENODEV",
        ]
        return names[number] ?? "error \(number)"
    }

    /// For `--trust namespace`, which fails.
    var refusal: String {
        "--trust namespace is not available here: \(self.reason): \(self.remedy), or use --trust env with \"wiretape ca install\" or WIRETAPE_REVERSE before URLs."
    }

    /// For `--isolate`, which fails.
    var isolationRefusal: String {
        "--isolate is not available here: \(self.reason): \(self.remedy), or leave out --isolate; programs that use their proxy settings are recorded without it."
    }

    /// For `--trust auto`, which falls back to the variables.
    var notice: String {
        "programs that read no variable for roots, such as URLSession, do not trust the recorder here (\(self.reason)): run \"wiretape ca install\", or write WIRETAPE_REVERSE before URLs."
    }
}

/// The step at which entering a namespace failed, and the system's error.
struct NamespaceObstacle: Error, Hashable {
    /// In the order in which they are carried out.
    enum Step: String, CaseIterable {
        /// `unshare(CLONE_NEWNS)`, as root.
        case unshare
        /// `unshare(CLONE_NEWUSER | CLONE_NEWNS)`, as any other user.
        case unshareUser
        /// Mapping the user and the group into the user namespace.
        case numbers
        /// Making later mounts private to the namespace.
        case propagation
        /// Mounting the bundle over the system's.
        case cover
        /// Adding the roots to the folders of hashes.
        case folder
        /// Mounting the settings of the resolver inside.
        case resolver
        /// See `InsideNetwork.Obstacle`.
        case link
        case sockets
        case watching
        case dialer
        case library
        case rules
        /// There is no file of roots to cover.
        case nothingToCover
        /// The probe printed nothing that can be parsed.
        case unknown
    }

    var step: Step
    /// errno; 0 if no call failed.
    var number: Int32
    /// A library's own words; empty if there are none.
    var detail = ""
}

#if os(Linux)
extension NamespaceObstacle {
    init(_ obstacle: InsideNetwork.Obstacle) {
        let step: Step =
            switch obstacle.step {
            case .link: .link
            case .socket: .sockets
            case .watching: .watching
            case .dialer: .dialer
            case .library: .library
            case .rules: .rules
            }
        self.init(step: step, number: obstacle.number, detail: obstacle.detail)
    }
}
#endif

extension NamespaceObstacle {
    /// One line, as the probe prints it.
    var line: String { "\(self.step.rawValue) \(self.number)" + (self.detail.isEmpty ? "" : " \(self.detail)") }

    init?(line: some StringProtocol) {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let step = Step(rawValue: String(words[0])), let number = Int32(words[1]) else { return nil }
        self.init(step: step, number: number, detail: words.count > 2 ? String(words[2]) : "")
    }
}

/// The system's own rules for namespaces; nil if the system does not report a rule.
struct NamespaceFacts: Hashable {
    var isRoot = false
    /// 2 if a seccomp filter decides which system calls are allowed, as in containers.
    var seccomp: Int?
    /// `user.max_user_namespaces`.
    var maxUserNamespaces: Int?
    /// `user.max_net_namespaces`.
    var maxNetworkNamespaces: Int?
    /// `kernel.unprivileged_userns_clone`, of Debian's older kernels.
    var unprivilegedClone: Int?
    /// `kernel.apparmor_restrict_unprivileged_userns`, of Ubuntu's newer kernels.
    var appArmorRestricts: Int?

    static func read(isRoot: Bool = geteuid() == 0, file: (String) -> String? = Self.text) -> NamespaceFacts {
        func number(_ path: String) -> Int? { file(path).flatMap { Int($0.filter { !$0.isWhitespace }) } }
        let seccomp = file("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("Seccomp:") }
        return NamespaceFacts(
            isRoot: isRoot, seccomp: seccomp.flatMap { Int($0.dropFirst(8).filter { !$0.isWhitespace }) },
            maxUserNamespaces: number("/proc/sys/user/max_user_namespaces"),
            maxNetworkNamespaces: number("/proc/sys/user/max_net_namespaces"),
            unprivilegedClone: number("/proc/sys/kernel/unprivileged_userns_clone"),
            appArmorRestricts: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"))
    }

    /// A file of the kernel, which reports its size as 0.
    static func text(_ path: String) -> String? {
        guard let stream = fopen(path, "re") else { return nil }
        defer { fclose(stream) }
        var block = [UInt8](repeating: 0, count: 16 << 10)
        let count = fread(&block, 1, block.count, stream)
        return String(decoding: block[..<count], as: UTF8.self)
    }
}
