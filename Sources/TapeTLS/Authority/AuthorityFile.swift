internal import Platform

/// One file of an authority, read whole or created whole. It never changes the contents of a file that is there.
struct AuthorityFile {
    /// Far past any chain.
    private static let limit = 1 << 20

    let path: String
    let followsLinks: Bool

    /// Whether anything has this name, be it a link that leads nowhere.
    var isPresent: Bool {
        var status = stat()
        return lstat(self.path, &status) == 0
    }

    /// Whether the mode lets anybody but the owner read it.
    var isReadableByOthers: Bool {
        var status = stat()
        return stat(self.path, &status) == 0 && status.st_mode & 0o077 != 0
    }

    func read() throws(CertificateError) -> [UInt8] {
        // O_NONBLOCK: opening a FIFO must not wait for its other end.
        let descriptor = open(self.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (self.followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw self.error(errno, "open", .unreadable) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CertificateError(.unsafePath, "\"\(self.path)\" is not a regular file; name a file in PEM form")
        }
        guard status.st_size <= Self.limit else {
            throw CertificateError(
                .damaged, "\"\(self.path)\" is larger than 1 MiB; name a file that holds one certificate or key in PEM form")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(done)) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw self.error(errno, "read", .unreadable) }
            if count == 0 { break }
            done += count
        }
        return Array(bytes.prefix(done))
    }

    /// Writes a file of another name and gives it this one once it is complete and on the disk; an error where the name is taken.
    func create(_ bytes: [UInt8], mode: mode_t) throws(CertificateError) {
        let draft = "\(self.path).\(getpid()).\(UInt32.random(in: .min ... .max))"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw self.error(errno, "create", .unwritable) }
        defer {
            close(descriptor)
            unlink(draft)
        }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw self.error(count == 0 ? EIO : errno, "write", .unwritable) }
            done += count
        }
        guard fsync(descriptor) == 0 else { throw self.error(errno, "write", .unwritable) }
        // Unlike a rename, a link never takes the place of a file.
        guard link(draft, self.path) == 0 else { throw self.error(errno, "create", .unwritable) }
    }

    /// Takes back what `create` has made.
    func remove() { unlink(self.path) }

    private func error(_ number: Int32, _ operation: String, _ code: CertificateError.Code) -> CertificateError {
        switch number {
        case ENOENT where operation == "open":
            return CertificateError(.notFound, "\"\(self.path)\" is not there; name a file in PEM form")
        case ELOOP:
            return CertificateError(
                .unsafePath, "\"\(self.path)\" is a symbolic link, which is not followed here; put the file itself in its place"
            )
        default:
            let reason = String(cString: strerror(number))
            return CertificateError(code, "cannot \(operation) \"\(self.path)\": \(reason); mend that or name another folder")
        }
    }
}
