internal import Platform

#if os(Linux)

/// Enters a mount namespace and puts our roots in the place of the system's, for this process and what it becomes.
///
/// Nobody outside of the namespace sees any of it, and no file of the system's is written. What privileges it gains on the way end with
/// `execve`.
struct NamespaceMounts {
    /// Where a covered folder's own content is from then on.
    static let original = ".system"

    private let plan: NamespacePlan

    init(_ plan: NamespacePlan) { self.plan = plan }

    func enter() throws(NamespaceObstacle) {
        guard !self.plan.files.isEmpty || !self.plan.folders.isEmpty else { throw NamespaceObstacle(step: .nothingToCover, number: 0) }
        guard let calls = NamespaceCalls() else { throw NamespaceObstacle(step: .unshare, number: ENOSYS) }
        try self.unshare(calls)
        try Self.step(.propagation) { () throws(NamespaceCalls.SystemError) in
            try calls.mount(nil, at: "/", NamespaceCalls.recursive | NamespaceCalls.isPrivate)
        }
        for file in self.plan.files {
            try Self.step(.cover) { () throws(NamespaceCalls.SystemError) in
                try calls.mount(self.plan.bundle, at: file, NamespaceCalls.bind)
            }
        }
        for folder in self.plan.folders {
            try Self.step(.folder) { () throws(NamespaceCalls.SystemError) in try self.extend(folder, calls) }
        }
    }

    private static func step(
        _ step: NamespaceObstacle.Step, _ body: () throws(NamespaceCalls.SystemError) -> Void
    ) throws(NamespaceObstacle) {
        do throws(NamespaceCalls.SystemError) {
            try body()
        } catch {
            throw NamespaceObstacle(step: step, number: error.number)
        }
    }

    // MARK: The namespace

    /// A mount namespace where the process may have one; else a user namespace with it, in which it may.
    private func unshare(_ calls: NamespaceCalls) throws(NamespaceObstacle) {
        do throws(NamespaceCalls.SystemError) {
            return try calls.unshare(NamespaceCalls.newMounts)
        } catch {
            guard error.number == EPERM else { throw NamespaceObstacle(step: .unshare, number: error.number) }
        }
        let (user, group) = (geteuid(), getegid())
        let capabilities = calls.boundingSet
        try Self.step(.unshareUser) { () throws(NamespaceCalls.SystemError) in
            try calls.unshare(NamespaceCalls.newUser | NamespaceCalls.newMounts)
        }
        try Self.step(.numbers) { () throws(NamespaceCalls.SystemError) in
            // A group may only be mapped by those who give up changing groups (user_namespaces(7)).
            try Self.write("deny", to: "/proc/self/setgroups")
            try Self.write("\(group) \(group) 1", to: "/proc/self/gid_map")
            try Self.write("\(user) \(user) 1", to: "/proc/self/uid_map")
        }
        // What a new namespace fills up: root keeps at execve what the bounding set allows, and a file can give it to others.
        calls.bound(to: capabilities)
    }

    private static func write(_ text: String, to path: String) throws(NamespaceCalls.SystemError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw NamespaceCalls.SystemError(number: errno) }
        defer { close(descriptor) }
        let count = text.utf8.count
        guard Glibc.write(descriptor, text, count) == count else { throw NamespaceCalls.SystemError(number: errno) }
    }

    // MARK: Folders of hashes

    /// An empty folder in memory lies over it, with links to all that was in it and with our roots.
    private func extend(_ folder: String, _ calls: NamespaceCalls) throws(NamespaceCalls.SystemError) {
        try calls.mount(folder, at: self.plan.holder, NamespaceCalls.bind | NamespaceCalls.recursive)
        let flags = NamespaceCalls.noSetUser | NamespaceCalls.noDevices
        try calls.mount("tmpfs", at: folder, type: "tmpfs", flags, data: "mode=755,size=16m")
        let original = "\(folder)/\(Self.original)"
        guard mkdir(original, 0o755) == 0 else { throw NamespaceCalls.SystemError(number: errno) }
        try calls.mount(self.plan.holder, at: original, NamespaceCalls.move)
        for name in Self.names(in: original) { _ = symlink("\(Self.original)/\(name)", "\(folder)/\(name)") }
        for root in self.plan.roots { try Self.put(root, into: folder) }
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // SAFETY: readdir's name ends with a NUL and is valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            if name != ".", name != "..", name != self.original { names.append(name) }
        }
        return names
    }

    /// A copy, since the program may become a user who cannot look into our folder.
    private static func put(_ root: NamespacePlan.Root, into folder: String) throws(NamespaceCalls.SystemError) {
        guard let octets = try? WholeFile.read(root.path) else { throw NamespaceCalls.SystemError(number: ENOENT) }
        var number = 0
        var status = stat()
        // Subjects with one hash are numbered, and looked at until a number is missing.
        while lstat("\(folder)/\(root.hash).\(number)", &status) == 0 { number += 1 }
        let descriptor = open("\(folder)/\(root.hash).\(number)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw NamespaceCalls.SystemError(number: errno) }
        defer { close(descriptor) }
        let count = octets.withUnsafeBytes { Terminal.write($0, to: descriptor) }
        guard count == octets.count else { throw NamespaceCalls.SystemError(number: errno) }
    }
}
#endif
