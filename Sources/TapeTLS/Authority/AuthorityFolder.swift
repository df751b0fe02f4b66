internal import Platform

/// Holds the lock of the folder in which an authority is made, so that two programs do not make one each; it lets go when it is freed.
struct AuthorityFolder: ~Copyable {
    /// Five seconds in all; making an authority takes some milliseconds.
    private static let tries = 500
    /// Milliseconds.
    private static let pause: Int32 = 10

    private let descriptor: Int32
    private let path: String

    /// Creates the folder for its owner alone where it is missing, with what is above it, and waits for the lock.
    init(_ path: String) throws(CertificateError) {
        try Self.create(path)
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.error(errno, "open", path) }
        var result: Int32
        var tries = 0
        repeat {
            result = flock(descriptor, LOCK_EX | LOCK_NB)
            guard result < 0, errno == EWOULDBLOCK, tries < Self.tries else { continue }
            tries += 1
            poll(nil, 0, Self.pause)
            errno = EINTR
        } while result < 0 && errno == EINTR
        // Some network file systems have no locks: there the links that create the files keep what is there.
        guard result == 0 || errno == ENOLCK || errno == EOPNOTSUPP else {
            let number = errno
            close(descriptor)
            throw Self.error(number, "lock", path)
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(self.descriptor) }

    /// Waits until the names of new files are on the disk; a file system that cannot say so is believed.
    func synchronize() {
        _ = fsync(self.descriptor)
    }

    private static func create(_ path: String) throws(CertificateError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw self.error(ENOTDIR, "use", path) }
            return
        }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try self.create(String(path[..<slash])) }
        // Another program may have made it meanwhile.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw self.error(errno, "create", path) }
    }

    private static func error(_ number: Int32, _ operation: String, _ path: String) -> CertificateError {
        let reason = number == EWOULDBLOCK ? "another program holds it" : String(cString: strerror(number))
        return CertificateError(.unwritable, "cannot \(operation) the folder \"\(path)\": \(reason); mend that or name another folder")
    }
}
