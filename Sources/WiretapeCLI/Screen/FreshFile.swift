internal import Platform
internal import TapeBytes

/// A file that is written next to another one, whose place it takes once it is whole: `NAME.PID.new`.
///
/// It is locked while its process lives, so that a file that a killed process left can be told from one that is being written. Whoever made
/// it closes it, and renames or removes it.
struct FreshFile {
    let path: String
    /// The file that it replaces.
    let target: String
    let descriptor: Int32

    private static let ending = ".new"
    /// The files that this process is writing.
    private static let unfinished = Guarded<Set<String>>([])

    /// - Parameter mode: without the bits of the umask.
    /// - Returns: nil if it cannot be created; `errno` tells why.
    init?(target: String, mode: UInt32) {
        self.target = target
        self.path = "\(target).\(getpid())\(Self.ending)"
        var descriptor: Int32 = -1
        // Another process may take the file for a leftover before it is locked. The last try is used as it is, since some file systems
        // do not count names.
        for _ in 0..<5 {
            if descriptor >= 0 { close(descriptor) }
            // Removes a leftover of another process with the same ID.
            unlink(self.path)
            descriptor = open(self.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
            guard descriptor >= 0 else { return nil }
            // On a file system without locks, no leftover is ever removed.
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            var status = stat()
            if fstat(descriptor, &status) == 0, status.st_nlink > 0 { break }
        }
        self.descriptor = descriptor
        _ = Self.unfinished.withLock { [path] in $0.insert(path) }
    }

    /// Call this right before its process ends.
    static func removeUnfinished() { self.unfinished.withLock { for path in $0 { unlink(path) } } }

    /// Puts the file in the place of its target.
    ///
    /// - Returns: false if that is not possible; `errno` tells why.
    func replaceTarget() -> Bool {
        guard rename(self.path, self.target) == 0 else { return false }
        _ = Self.unfinished.withLock { [path] in $0.remove(path) }
        Self.removeLeftovers(of: self.target)
        return true
    }

    func remove() {
        unlink(self.path)
        _ = Self.unfinished.withLock { [path] in $0.remove(path) }
    }

    /// Removes the files that killed processes left next to `target`.
    private static func removeLeftovers(of target: String) {
        let slash = target.lastIndex(of: "/")
        let folder = slash.map { String(target[...$0]) } ?? "."
        let prefix = Array((slash.map { target[target.index(after: $0)...] } ?? target[...]).utf8) + [UInt8(ascii: ".")]
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard name.starts(with: prefix), name.count > prefix.count + Self.ending.utf8.count,
                name.suffix(Self.ending.utf8.count).elementsEqual(Self.ending.utf8),
                name[prefix.count...].dropLast(Self.ending.utf8.count).allSatisfy({ (48...57).contains($0) })
            else { continue }
            self.removeIfAbandoned(name + [0], in: dirfd(entries))
        }
    }

    private static func removeIfAbandoned(_ name: [UInt8], in folder: Int32) {
        name.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { name in
                guard let name = name.baseAddress else { return }
                let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                guard file >= 0 else { return }
                defer { close(file) }
                var status = stat()
                guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, flock(file, LOCK_EX | LOCK_NB) == 0 else { return }
                unlinkat(folder, name, 0)
            }
        }
    }
}
