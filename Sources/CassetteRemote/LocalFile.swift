internal import CassetteStore
internal import Platform

/// An open file of the cache, or one that is uploaded. Closed with its last reference; any thread may read it.
package final class LocalFile: Sendable {
    let descriptor: Int32
    package let path: String

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(self.descriptor) }

    /// - Throws: `notFound` if there is no file, and `unwritable` for other reasons.
    package static func open(_ path: String) throws(StoreError) -> LocalFile {
        try self.open(path, flags: O_RDONLY | O_NONBLOCK, .open)
    }

    /// Opens a file for writing, and creates it if it is missing.
    static func update(_ path: String, isNew: Bool = false) throws(StoreError) -> LocalFile {
        try self.open(path, flags: O_RDWR | O_CREAT | O_NOFOLLOW | (isNew ? O_EXCL : 0), .create)
    }

    private static func open(_ path: String, flags: Int32, _ operation: SystemError.Operation) throws(StoreError) -> LocalFile {
        var descriptor: Int32
        repeat { descriptor = Platform.open(path, flags | O_CLOEXEC, 0o644) } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw StoreError(errno: errno, operation, path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw StoreError(.unwritable, "\"\(path)\" is not a regular file: name a file.")
        }
        return LocalFile(descriptor, path)
    }

    package func size() throws(StoreError) -> Int {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw StoreError(errno: errno, .read, self.path) }
        return Int(status.st_size)
    }

    /// Fills the buffer, or reads to the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(self.descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StoreError(errno: errno, .read, self.path) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    package func readAll(limit: Int) throws(StoreError) -> [UInt8] {
        let size = try self.size()
        guard size <= limit else { throw StoreError(.tooLarge, "\"\(self.path)\" has more than \(limit) bytes: is it the right file?") }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(StoreError) in
            try self.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(self.descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw StoreError(errno: count == 0 ? EIO : errno, .write, self.path) }
            done += count
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(StoreError) in try self.write(UnsafeRawBufferPointer(buffer), at: offset) }
    }

    func truncate() throws(StoreError) {
        guard ftruncate(self.descriptor, 0) == 0 else { throw StoreError(errno: errno, .truncate, self.path) }
    }

    /// Waits for the lock. It is released with the file.
    ///
    /// - Parameter isShared: whether others may have it at the same time, shared too.
    func lock(isShared: Bool = false) throws(StoreError) {
        while flock(self.descriptor, isShared ? LOCK_SH : LOCK_EX) != 0 {
            guard errno == EINTR else {
                // Some network file systems have no locks.
                if errno == ENOLCK || errno == EOPNOTSUPP { return }
                throw StoreError(errno: errno, .lock, self.path)
            }
        }
    }

    /// - Returns: false if somebody else has the lock.
    func tryLock() -> Bool { flock(self.descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Whether the path still leads to this file.
    var isStillThere: Bool {
        var (own, other) = (stat(), stat())
        return fstat(self.descriptor, &own) == 0 && lstat(self.path, &other) == 0 && own.st_ino == other.st_ino
            && own.st_dev == other.st_dev
    }

    /// Waits until the bytes are on disk, and gives the file its mode and its final name.
    func finish(as path: String, mode: mode_t) throws(StoreError) {
        guard fsync(self.descriptor) == 0, fchmod(self.descriptor, mode) == 0, rename(self.path, path) == 0 else {
            throw StoreError(errno: errno, .rename, self.path)
        }
    }
}

/// Folders and names on this machine.
enum LocalFolder {
    /// Creates a folder and its parents.
    static func create(_ path: String) throws(StoreError) {
        var missing: [String] = []
        var current = path
        while mkdir(current, 0o755) != 0 {
            if errno == EEXIST { break }
            guard errno == ENOENT, let slash = current.lastIndex(of: "/"), slash != current.startIndex else {
                throw StoreError(errno: errno, .create, current)
            }
            missing.append(current)
            current = String(current[..<slash])
        }
        for path in missing.reversed() where mkdir(path, 0o755) != 0 && errno != EEXIST { throw StoreError(errno: errno, .create, path) }
    }

    /// The names in a folder, sorted; none if there is no folder.
    static func names(_ path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // SAFETY: readdir's name is NUL-terminated and valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The status of a regular file; nil if there is none.
    static func file(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
    }

    /// Removes a folder that holds files and one level of folders.
    static func remove(_ path: String) {
        for name in self.names(path) {
            let inner = "\(path)/\(name)"
            if self.isFolder(inner) { self.remove(inner) } else { unlink(inner) }
        }
        rmdir(path)
    }

    /// Replaces a file in one step.
    static func replace(_ path: String, with text: [UInt8]) throws(StoreError) {
        let fresh = "\(path).\(getpid()).new"
        unlink(fresh)
        let file = try LocalFile.update(fresh, isNew: true)
        do throws(StoreError) {
            try file.write(text, at: 0)
            try file.finish(as: path, mode: 0o644)
        } catch {
            unlink(fresh)
            throw error
        }
    }
}

extension StoreError {
    init(errno number: Int32, _ operation: SystemError.Operation, _ path: String) {
        let error = SystemError(number: number, operation: operation, path: path).cassetteError
        self.init(number == ENOENT && operation == .open ? .notFound : .unwritable, "\(error.message).")
    }
}
