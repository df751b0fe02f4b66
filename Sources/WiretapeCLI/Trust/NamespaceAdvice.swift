internal import Platform

/// Why a program cannot have a mount namespace of its own, and what to do about it.
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
            case .unshare: "unshare(CLONE_NEWNS)"
            case .unshareUser: "unshare(CLONE_NEWUSER|CLONE_NEWNS)"
            case .numbers: "writing the user's number into the namespace"
            case .propagation: "making mounts private"
            case .cover: "mounting a bundle over the system's"
            case .folder: "mounting a folder of roots over the system's"
            case .nothingToCover: ""
            case .unknown: "trying it"
            }
        let error = obstacle.number == 0 ? "" : " failed with \(Self.name(obstacle.number)) (\(String(cString: strerror(obstacle.number))))"
        let parts = [call.isEmpty ? "" : call + (error.isEmpty ? " failed" : error), row?.reason ?? ""].filter { !$0.isEmpty }
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
        /// There is no file of roots to cover.
        case nothingToCover
        /// The probe printed nothing that can be parsed.
        case unknown
    }

    var step: Step
    /// errno; 0 if no call failed.
    var number: Int32
}

extension NamespaceObstacle {
    /// One line, as the probe prints it.
    var line: String { "\(self.step.rawValue) \(self.number)" }

    init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count == 2, let step = Step(rawValue: String(words[0])), let number = Int32(words[1]) else { return nil }
        self.init(step: step, number: number)
    }
}

/// The system's own rules for namespaces; nil if the system does not report a rule.
struct NamespaceFacts: Hashable {
    var isRoot = false
    /// 2 if a seccomp filter decides which system calls are allowed, as in containers.
    var seccomp: Int?
    /// `user.max_user_namespaces`.
    var maxUserNamespaces: Int?
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
