internal import Platform
internal import TapeIsolation

/// The other role of this program: it enters a mount namespace, mounts as planned, and becomes the program to run.
///
/// Stays the same process, so that signals, the terminal and the exit code are that program's own. Has to run before any thread starts:
/// a process with several threads cannot enter a user namespace.
enum NamespaceEntry {
    /// For a failure before the program starts, as in env(1).
    static let failed: Int32 = 125
    private static let notExecutable: Int32 = 126

    /// Does not return if the command line is one of `NamespacePlan`.
    static func runIfAsked(_ arguments: [String] = ProgramArguments.all) {
        guard arguments.dropFirst().first == NamespacePlan.word else { return }
        #if os(Linux)
        guard let plan = NamespacePlan(arguments: arguments.dropFirst()), let mark = arguments.firstIndex(of: "--") else {
            Self.end(
                Self.failed, "wiretape: \"\(NamespacePlan.word)\" is for wiretape itself: pass --trust namespace to \"wiretape record\".")
        }
        let isProbe = mark + 1 == arguments.count
        let socket = plan.isolation?.socket
        let portRules = plan.isolation.map { _ in PortRules() }
        do throws(NamespaceObstacle) {
            try NamespaceMounts(plan).enter()
            try Self.isolate(plan, socket, portRules)
        } catch {
            if isProbe { Self.end(Self.failed, error.line, to: STDOUT_FILENO) }
            if let socket {
                // The process outside prints the reason.
                InsideSockets.report(error.line, through: socket)
                exit(Self.failed)
            }
            Self.end(Self.failed, "wiretape: " + NamespaceAdvice(error, .read()).refusal)
        }
        if isProbe { exit(0) }
        Self.become(arguments[mark + 1], CommandLine.unsafeArgv + mark + 1)
        #endif
    }

    #if os(Linux)
    /// Sets the network up, hands its sockets out through `socket`, and waits until the process outside is ready.
    private static func isolate(
        _ plan: NamespacePlan, _ socket: Int32?, _ portRules: PortRules?
    ) throws(NamespaceObstacle) {
        guard let isolation = plan.isolation else { return }
        do throws(InsideNetwork.Obstacle) {
            let sockets = try InsideNetwork(
                proxyPort: isolation.port, reach: isolation.reach, portRules: portRules, holder: plan.holder
            ).make()
            defer { sockets.closeAll() }
            if let socket {
                for inherited in try InheritedSockets.closeAtExec() { InsideSockets.report(inherited, through: socket) }
                // The process outside has ended, and nobody waits for the command.
                guard sockets.handOut(through: socket) else { exit(Self.failed) }
                close(socket)
            }
            try InsideNetwork.dropCapabilities()
        } catch {
            throw NamespaceObstacle(error)
        }
    }

    /// - Parameter words: the original bytes, since a path need not be UTF-8.
    private static func become(_ name: String, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Never {
        RecordedClock.passOn()
        guard let program = words[0] else { Self.end(Self.failed, "wiretape: there is no command after \"--\": pass one.") }
        execvp(program, words)
        // A program written a moment ago can still be open in a child of its writer, between fork and exec.
        for _ in 0..<20 where errno == ETXTBSY {
            poll(nil, 0, 10)
            execvp(program, words)
        }
        let status = errno == ENOENT ? ExitStatus.commandNotFound : Self.notExecutable
        let problem = String(cString: strerror(errno))
        Self.end(status, "wiretape: \"\(name)\" cannot be started (\(problem)): is it a program that you may run?")
    }

    private static func end(_ status: Int32, _ line: String, to descriptor: Int32 = STDERR_FILENO) -> Never {
        Self.say(line, to: descriptor)
        exit(status)
    }

    private static func say(_ line: String, to descriptor: Int32 = STDERR_FILENO) {
        _ = Array((line + "\n").utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
    #endif
}

#if os(Linux)
/// Enters a mount namespace and replaces the system's roots with ours, for this process and the program that it becomes.
///
/// Nothing changes outside the namespace, and no system file is written. The privileges gained on the way end with
/// `execve`.
struct NamespaceMounts {
    /// The original content of a covered folder.
    static let original = ".system"

    private let plan: NamespacePlan

    init(_ plan: NamespacePlan) { self.plan = plan }

    func enter() throws(NamespaceObstacle) {
        guard !self.plan.isEmpty else { throw NamespaceObstacle(step: .nothingToCover, number: 0) }
        guard let calls = NamespaceCalls() else { throw NamespaceObstacle(step: .unshare, number: ENOSYS) }
        try self.unshare(calls)
        try Self.step(.propagation) { () throws(NamespaceCalls.SystemError) in
            try calls.mount(nil, at: "/", NamespaceCalls.recursive | NamespaceCalls.isPrivate)
        }
        if self.plan.isolation != nil {
            try Self.step(.resolver) { () throws(NamespaceCalls.SystemError) in try self.coverResolver(calls) }
        }
        if !self.plan.files.isEmpty || !self.plan.javaFiles.isEmpty {
            try Self.step(.cover) { () throws(NamespaceCalls.SystemError) in try self.coverRoots(calls) }
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

    /// Creates a mount namespace, and a network namespace if the program is isolated, if the process may do so; otherwise a user namespace
    /// that contains them.
    private func unshare(_ calls: NamespaceCalls) throws(NamespaceObstacle) {
        let wanted = NamespaceCalls.newMounts | (self.plan.isolation == nil ? 0 : NamespaceCalls.newNetwork)
        do throws(NamespaceCalls.SystemError) {
            return try calls.unshare(wanted)
        } catch {
            guard error.number == EPERM else { throw NamespaceObstacle(step: .unshare, number: error.number) }
        }
        let (user, group) = (geteuid(), getegid())
        let capabilities = calls.boundingSet
        try Self.step(.unshareUser) { () throws(NamespaceCalls.SystemError) in
            try calls.unshare(NamespaceCalls.newUser | wanted)
        }
        try Self.step(.numbers) { () throws(NamespaceCalls.SystemError) in
            // A process may map a group only after giving up setgroups (user_namespaces(7)).
            try Self.write("deny", to: "/proc/self/setgroups")
            try Self.write("\(group) \(group) 1", to: "/proc/self/gid_map")
            try Self.write("\(user) \(user) 1", to: "/proc/self/uid_map")
        }
        // A new namespace fills the bounding set: at execve, root keeps what it allows, and files can grant it to others.
        calls.bound(to: capabilities)
    }

    private static func write(_ text: String, to path: String) throws(NamespaceCalls.SystemError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw NamespaceCalls.SystemError(number: errno) }
        defer { close(descriptor) }
        let count = text.utf8.count
        guard Glibc.write(descriptor, text, count) == count else { throw NamespaceCalls.SystemError(number: errno) }
    }

    // MARK: The resolver

    private static let resolverFile = "/etc/resolv.conf"
    private static let serviceFile = "/etc/nsswitch.conf"
    private static let hostsFile = InsideHosts.path
    /// The folders of services that look names up for programs by a socket of the file system.
    private static let services = ["/run/nscd", "/var/run/nscd", "/run/systemd/resolve", "/run/avahi-daemon"]

    /// Points the C library to the resolver inside, past all services of the machine.
    private func coverResolver(_ calls: NamespaceCalls) throws(NamespaceCalls.SystemError) {
        let flags = NamespaceCalls.noSetUser | NamespaceCalls.noDevices
        try calls.mount("tmpfs", at: self.plan.holder, type: "tmpfs", flags, data: "mode=755,size=1m")
        // Every address is answered on port 53; this one is none of another machine.
        try self.cover(Self.resolverFile, with: "nameserver 198.18.0.1\noptions timeout:2 attempts:2\n", calls)
        if let text = NamespaceFacts.text(Self.serviceFile) {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            try self.cover(
                Self.serviceFile, with: lines.map { $0.hasPrefix("hosts:") ? "hosts: files dns" : $0 }.joined(separator: "\n"), calls)
        }
        try self.cover(Self.hostsFile, with: InsideHosts.text, calls)
        // The files stay where they are mounted.
        try calls.unmount(self.plan.holder)
        for folder in Self.services {
            var status = stat()
            guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, let real = Self.real(folder) else { continue }
            try calls.mount("tmpfs", at: real, type: "tmpfs", flags, data: "mode=755,size=64k")
        }
    }

    /// Covers the file that a path leads to. Without such a file there is nothing to cover: the C library then asks 127.0.0.1, which the
    /// resolver answers too.
    private func cover(_ path: String, with text: String, _ calls: NamespaceCalls) throws(NamespaceCalls.SystemError) {
        guard let real = Self.real(path), let name = path.split(separator: "/").last else { return }
        let file = "\(self.plan.holder)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw NamespaceCalls.SystemError(number: errno) }
        defer { close(descriptor) }
        _ = fchmod(descriptor, 0o644)
        let count = Array(text.utf8).withUnsafeBytes { Terminal.write($0, to: descriptor) }
        guard count == text.utf8.count else { throw NamespaceCalls.SystemError(number: errno) }
        try calls.mount(file, at: real, NamespaceCalls.bind)
    }

    /// Follows links; nil if there is nothing at the end.
    private static func real(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    // MARK: Files of roots

    /// Covers them with copies, so that what the program writes into them ends with it.
    private func coverRoots(_ calls: NamespaceCalls) throws(NamespaceCalls.SystemError) {
        let flags = NamespaceCalls.noSetUser | NamespaceCalls.noDevices
        try calls.mount("tmpfs", at: self.plan.holder, type: "tmpfs", flags, data: "mode=755,size=64m")
        try self.cover(self.plan.files, with: self.plan.bundle, calls)
        if let store = self.plan.javaStore { try self.cover(self.plan.javaFiles, with: store, calls) }
        // The copies stay where they are mounted.
        try calls.unmount(self.plan.holder)
    }

    private func cover(_ files: [String], with source: String, _ calls: NamespaceCalls) throws(NamespaceCalls.SystemError) {
        guard !files.isEmpty, let name = source.split(separator: "/").last else { return }
        guard let bytes = try? WholeFile.read(source) else { throw NamespaceCalls.SystemError(number: ENOENT) }
        let copy = "\(self.plan.holder)/\(name)"
        try Self.write(bytes, to: copy, flags: O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)
        // As the system's own, which only root can write.
        guard chmod(copy, 0o444) == 0 else { throw NamespaceCalls.SystemError(number: errno) }
        for file in files { try calls.mount(copy, at: file, NamespaceCalls.bind) }
    }

    private static func write(_ bytes: [UInt8], to path: String, flags: Int32) throws(NamespaceCalls.SystemError) {
        let descriptor = open(path, flags, 0o644)
        guard descriptor >= 0 else { throw NamespaceCalls.SystemError(number: errno) }
        defer { close(descriptor) }
        let count = bytes.withUnsafeBytes { Terminal.write($0, to: descriptor) }
        guard count == bytes.count else { throw NamespaceCalls.SystemError(number: errno) }
    }

    // MARK: Folders of hashes

    /// Mounts an empty tmpfs over a folder, with links to its original content and with our roots.
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

    /// Copies the root, since the program may become a user who cannot read our folder.
    private static func put(_ root: NamespacePlan.Root, into folder: String) throws(NamespaceCalls.SystemError) {
        guard let bytes = try? WholeFile.read(root.path) else { throw NamespaceCalls.SystemError(number: ENOENT) }
        var number = 0
        var status = stat()
        // Subjects with the same hash are numbered, and looked up until a number is missing.
        while lstat("\(folder)/\(root.hash).\(number)", &status) == 0 { number += 1 }
        try self.write(bytes, to: "\(folder)/\(root.hash).\(number)", flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
    }
}
#endif

#if os(Linux)
/// Linux calls that Swift's import of the C library leaves out, or that are variadic.
struct NamespaceCalls {
    static let newMounts: Int32 = 0x0002_0000
    static let newUser: Int32 = 0x1000_0000
    static let newNetwork: Int32 = 0x4000_0000
    static let bind: UInt = 0x1000
    static let recursive: UInt = 0x4000
    static let isPrivate: UInt = 1 << 18
    static let move: UInt = 0x2000
    static let noSetUser: UInt = 2
    static let noDevices: UInt = 4

    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Mount =
        @convention(c) (
            UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt, UnsafePointer<CChar>?
        ) -> Int32
    private typealias Unmount = @convention(c) (UnsafePointer<CChar>?, Int32) -> Int32
    private typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32

    private let unshareCall: Unshare
    private let mountCall: Mount
    private let unmountCall: Unmount
    private let controlCall: Control

    /// Nil if the C library does not have these functions.
    init?() {
        guard let unshare = dlsym(nil, "unshare"), let mount = dlsym(nil, "mount"), let unmount = dlsym(nil, "umount2"),
            let control = dlsym(nil, "prctl")
        else { return nil }
        // SAFETY: int unshare(int); int mount(const char *, const char *, const char *, unsigned long, const void *).
        self.unshareCall = unsafeBitCast(unshare, to: Unshare.self)
        self.mountCall = unsafeBitCast(mount, to: Mount.self)
        // SAFETY: int umount2(const char *, int).
        self.unmountCall = unsafeBitCast(unmount, to: Unmount.self)
        // SAFETY: int prctl(int, ...), always called with four unsigned longs; in the C calling conventions of Linux on x86-64 and arm64
        // variadic arguments like these go where fixed arguments go.
        self.controlCall = unsafeBitCast(control, to: Control.self)
    }

    func unshare(_ flags: Int32) throws(SystemError) {
        guard self.unshareCall(flags) == 0 else { throw SystemError(number: errno) }
    }

    func mount(_ source: String?, at target: String, type: String? = nil, _ flags: UInt, data: String? = nil) throws(SystemError) {
        guard self.mountCall(source, target, type, flags, data) == 0 else { throw SystemError(number: errno) }
    }

    /// Takes a mount away; what still uses it keeps it (MNT_DETACH).
    func unmount(_ target: String) throws(SystemError) {
        guard self.unmountCall(target, 2) == 0 else { throw SystemError(number: errno) }
    }

    /// The capabilities that execve could still grant to this process; numbers from 0.
    var boundingSet: Set<UInt> { Set((0..<64).filter { self.controlCall(23, $0, 0, 0, 0) == 1 }) }

    /// Drops all other capabilities from the bounding set.
    func bound(to capabilities: Set<UInt>) {
        for capability in self.boundingSet.subtracting(capabilities) { _ = self.controlCall(24, capability, 0, 0, 0) }
    }

    struct SystemError: Error { var number: Int32 }
}
#endif

/// The file of host names inside an isolation.
enum InsideHosts {
    static let path = "/etc/hosts"

    /// For this machine.
    static var text: String { self.text(NamespaceFacts.text(self.path) ?? "", host: self.machine) }

    /// The machine's name; empty if it has none.
    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The names in a text of these lines, in lower case, with their addresses.
    static func addresses(in text: String = Self.text) -> [String: [String]] {
        var addresses: [String: [String]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            for name in words.dropFirst() { addresses[name.lowercased(), default: []].append(String(words[0])) }
        }
        return addresses
    }

    /// The machine's name and its other names in the same lines, by which programs name servers of their own. Not all names in the file,
    /// which may be many.
    static var machineNames: [String] {
        let names = self.names(besides: self.machine, in: self.text)
        return names + self.addressedNames.filter { !names.contains($0) }
    }

    /// The machine's long and short name if its own file gives them an address besides loopback's, as a static one is.
    static var addressedNames: [String] { self.addressedNames(in: NamespaceFacts.text(self.path) ?? "", host: self.machine) }

    static func addressedNames(in own: String, host: String) -> [String] {
        let host = host.lowercased()
        guard !host.isEmpty else { return [] }
        var (names, loopback): ([String], Set<String>) = ([], [])
        for line in own.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
            guard let address = words.first else { continue }
            if address.hasPrefix("127.") || address == "::1" {
                loopback.formUnion(words.dropFirst())
            } else if words.dropFirst().contains(host) {
                names += words.dropFirst().filter { $0 == host || $0.hasPrefix("\(host).") || host.hasPrefix("\($0).") }
            }
        }
        return names.enumerated().filter { !loopback.contains($1) && names.firstIndex(of: $1) == $0 }.map(\.element)
    }

    static func names(besides host: String, in text: String) -> [String] {
        var names: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").dropFirst().map { $0.lowercased() }
            guard words.contains(host.lowercased()) else { continue }
            for word in words where word != "localhost" && !names.contains(word) { names.append(word) }
        }
        return names
    }

    /// The lines of the machine's own file for loopback addresses, and the machine's name if it has no other address. All other names are asked
    /// of the resolver, which then knows the name of each connection.
    ///
    /// - Parameter host: empty if the machine has no name.
    static func text(_ own: String, host: String) -> String {
        var lines: [String] = []
        var hasHost = host.isEmpty
        for line in own.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            if words.dropFirst().contains(where: { $0 == host }) { hasHost = true }
            guard let address = words.first, address.hasPrefix("127.") || address == "::1" else { continue }
            lines.append(words.joined(separator: " "))
        }
        if lines.isEmpty { lines = ["127.0.0.1 localhost", "::1 localhost"] }
        if !hasHost { lines.append("127.0.1.1 \(host)") }
        return lines.joined(separator: "\n") + "\n"
    }
}
