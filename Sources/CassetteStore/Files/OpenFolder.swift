package import CassetteModel
internal import Platform
internal import TapeBytes

/// Owns one open folder. Operations through it stay in this folder, even if one of its parents is replaced meanwhile.
package struct OpenFolder: ~Copyable, Sendable {
    let descriptor: Int32
    /// The path as opened, for error messages.
    let path: String

    /// Opens a folder. `followsLinks` applies to the last part of the path.
    package init(_ path: String, followsLinks: Bool = true) throws(CassetteError) {
        try self.init(at: AT_FDCWD, name: path, path: path, followsLinks: followsLinks)
    }

    /// Whether its path still leads to this folder, rather than to nothing or to another one.
    var isInPlace: Bool {
        var own = stat()
        var other = stat()
        guard fstat(self.descriptor, &own) == 0, stat(self.path, &other) == 0 else { return false }
        return own.st_ino == other.st_ino && own.st_dev == other.st_dev
    }

    /// Opens a folder inside a folder, never through a symbolic link.
    package init(_ name: String, in parent: borrowing OpenFolder) throws(CassetteError) {
        guard FileLocation.isPlainName(name) else {
            throw CassetteError(.unsafePath, "\"\(name)\" is not a plain folder name; nothing outside \"\(parent.path)\" is opened")
        }
        let path = parent.path == "." ? name : "\(parent.path)/\(name)"
        try self.init(at: parent.descriptor, name: name, path: path, followsLinks: false)
    }

    private init(at parent: Int32, name: String, path: String, followsLinks: Bool) throws(CassetteError) {
        guard !name.utf8.contains(0) else {
            throw CassetteError(.unsafePath, "a folder's path contains a NUL; choose another name")
        }
        var descriptor: Int32
        repeat {
            descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else {
            var number = errno
            var status = stat()
            // With O_DIRECTORY, a symbolic link is reported as "not a folder".
            let isLink = fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
            if number == ENOTDIR, isLink { number = ELOOP }
            if number == ELOOP, !followsLinks, name.hasSuffix(".bodies") {
                throw CassetteError(
                    .unsafePath,
                    "\"\(path)\" is a symbolic link, and a folder of bodies is never opened through a link; replace the link with the folder, or make the cassette a link to the file next to the folder"
                )
            }
            throw SystemError(number: number, operation: .open, path: path).cassetteError
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(self.descriptor) }

    /// Creates a folder and its missing parents.
    static func create(_ path: String) throws(CassetteError) {
        guard !path.utf8.contains(0) else {
            throw CassetteError(.unsafePath, "a folder's path contains a NUL; choose another name")
        }
        try self.refuseDetour(path)
        var missing: [String] = []
        var current = path
        while mkdir(current, 0o755) != 0 {
            let number = errno
            if number == EEXIST { break }
            let parent = FileLocation(current).folder
            guard number == ENOENT, parent != current, parent != "." else {
                throw SystemError(number: number, operation: .create, path: current).cassetteError
            }
            missing.append(current)
            current = parent
        }
        for path in missing.reversed() where mkdir(path, 0o755) != 0 && errno != EEXIST {
            throw SystemError(number: errno, operation: .create, path: path).cassetteError
        }
    }

    /// A path may go through a folder and back. If that folder does not exist, it would be created for nothing.
    private static func refuseDetour(_ path: String) throws(CassetteError) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        var missing: String?
        for part in path.split(separator: "/") {
            if part == "..", let missing {
                throw CassetteError(
                    .unsafePath,
                    "\"\(path)\" goes through \"\(missing)\", which does not exist; write the path without it, or create that folder")
            }
            prefix += prefix.isEmpty || prefix.hasSuffix("/") ? part : "/" + part
            var status = stat()
            if missing == nil, stat(prefix, &status) != 0, errno == ENOENT { missing = prefix }
        }
    }

    /// - Parameter mode: the mode of the files in it; users who may read them may list the folder. Nil for the process's default.
    func createFolder(_ name: String, mode: UInt32? = nil) throws(CassetteError) {
        guard mkdirat(self.descriptor, name, mode == nil ? 0o755 : 0o700) == 0 else {
            guard errno == EEXIST else { throw self.error(errno, .create, name) }
            return
        }
        guard let mode else { return }
        guard fchmodat(self.descriptor, name, mode_t(mode | (mode & 0o444) >> 2 | 0o700), 0) == 0 else {
            throw self.error(errno, .create, name)
        }
    }

    /// Takes permissions away that a file's mode does not give, if the folder belongs to this user.
    func withhold(from mode: UInt32) {
        var status = stat()
        let most = mode_t(mode | (mode & 0o444) >> 2 | 0o700)
        guard fstat(self.descriptor, &status) == 0, status.st_mode & 0o777 & ~most != 0 else { return }
        fchmod(self.descriptor, status.st_mode & most)
    }

    /// Whether anything of that name exists, including a dangling symbolic link.
    func contains(_ name: String) -> Bool {
        var status = stat()
        return fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Whether there is a symbolic link of that name.
    func isLink(_ name: String) -> Bool {
        var status = stat()
        return fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The name of the file in this folder that is the target of a symbolic link; nil if the link leads out of the folder, or to nothing.
    func target(ofLink name: String) -> String? {
        guard self.isLink(name), let resolved = realpath("\(self.path)/\(name)", nil) else { return nil }
        defer { free(resolved) }
        let location = FileLocation(String(cString: resolved))
        var (own, other) = (stat(), stat())
        guard fstat(self.descriptor, &own) == 0, stat(location.folder, &other) == 0, own.st_dev == other.st_dev, own.st_ino == other.st_ino
        else { return nil }
        return location.name
    }

    /// The name of the file that a name refers to: the target if it is a symbolic link, otherwise the name itself.
    ///
    /// - Throws: `unsafePath` for a link that leads out of the folder, or to nothing.
    func followed(_ name: String) throws(CassetteError) -> String {
        guard FileLocation.isPlainName(name), self.isLink(name) else { return name }
        if let target = self.target(ofLink: name) { return target }
        throw CassetteError(
            .unsafePath,
            "\"\(self.path)/\(name)\" is a symbolic link that does not lead to a file in \"\(self.path)\", so it is not read; replace it with a copy of the file, or open the cassette through a link to the one whose bodies are there"
        )
    }

    /// Renames a file over another, which need not exist. Both names are in this folder.
    func rename(_ name: String, to target: String) throws(CassetteError) {
        guard renameat(self.descriptor, name, self.descriptor, target) == 0 else { throw self.error(errno, .rename, name) }
    }

    /// Gives a file a second name, which must be free.
    ///
    /// - Returns: false if the file system does not support a second name.
    func link(_ name: String, as second: String, disk: DiskCalls = .system) throws(CassetteError) -> Bool {
        let result = disk.link(self.descriptor, name, second)
        // Linux returns EPERM on FAT. EMLINK means that this file has too many names.
        if [EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS, EMLINK].contains(where: { result == -Int($0) }) { return false }
        guard result >= 0 else { throw self.error(Int32(-result), .link, name) }
        return true
    }

    /// Removes a file. It is not an error if it is already gone.
    func remove(_ name: String, disk: DiskCalls = .system) throws(CassetteError) {
        let result = disk.remove(self.descriptor, name)
        guard result >= 0 || result == -Int(ENOENT) else { throw self.error(Int32(-result), .remove, name) }
    }

    /// Waits until the names in the folder are on disk.
    func synchronize() throws(CassetteError) {
        var result: Int32
        repeat { result = fsync(self.descriptor) } while result < 0 && errno == EINTR
        // EINVAL means a file system whose folders cannot be synced.
        guard result == 0 || errno == EINVAL else { throw self.error(errno, .sync, "") }
    }

    /// Waits until all files on the folder's file system are on disk, in one call for any number of them.
    ///
    /// - Returns: false if the system has no such call.
    func synchronizeFileSystem(_ disk: DiskCalls) throws(CassetteError) -> Bool {
        var result: Int
        repeat { result = disk.synchronizeFileSystem(self.descriptor) } while result == -Int(EINTR)
        if result == -Int(ENOSYS) { return false }
        guard result >= 0 else { throw self.error(Int32(-result), .sync, "") }
        return true
    }

    /// Calls `body` with every name in the folder except `.` and `..`; `body` may remove the file it was called with.
    package func forEachName(_ body: (String) throws(CassetteError) -> Void) throws(CassetteError) {
        // fdopendir takes ownership of its descriptor, and a duplicate would share its position.
        let copy = openat(self.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw self.error(errno, .list, "") }
        guard let stream = fdopendir(copy) else {
            let number = errno
            close(copy)
            throw self.error(number, .list, "")
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // SAFETY: readdir's name is NUL-terminated and valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            if name != ".", name != ".." { try body(name) }
        }
    }

    private func error(_ number: Int32, _ operation: SystemError.Operation, _ name: String) -> CassetteError {
        SystemError(number: number, operation: operation, path: name.isEmpty ? self.path : "\(self.path)/\(name)").cassetteError
    }
}

/// A path split into the folder and the name in it.
///
/// Works on text only; does not access the disk.
package struct FileLocation: Sendable, Hashable {
    /// Without its last slash; `.` for a bare name, `/` for the root.
    package var folder: String
    package var name: String

    package init(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            self.folder = "."
            self.name = path
            return
        }
        self.folder = slash == path.startIndex ? "/" : String(path[..<slash])
        self.name = String(path[path.utf8.index(after: slash)...])
    }

    /// The folder of sidecars for a cassette of this name: `pets.bodies` next to `pets.json`.
    package var bodiesName: String {
        let stem = self.name.hasSuffix(".json") && self.name.utf8.count > 5 ? String(self.name.dropLast(5)) : self.name
        return stem + ".bodies"
    }

    package func sibling(_ name: String) -> String {
        self.folder == "/" ? "/\(name)" : self.folder == "." ? name : "\(self.folder)/\(name)"
    }

    /// Whether a string can only be the name of something directly in a folder.
    static func isPlainName(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard !bytes.isEmpty, bytes.count <= 255, name != ".", name != ".." else { return false }
        // Tools of other systems treat a backslash as a separator.
        return !bytes.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7f }
    }
}
