internal import Platform
public import TapeBytes

/// The files of an authority: a certificate and a key in PEM form.
///
/// Reads them, or creates both if neither exists. Never changes an existing file.
public struct AuthorityFiles: Sendable, Hashable {
    public static let certificateName = "ca-cert.pem"
    public static let keyName = "ca-key.pem"

    public let certificatePath: String
    public let keyPath: String
    /// nil if the files were named individually, in which case they are never created.
    private let folder: String?

    /// The authority that is created on first use.
    public init(folder: String) {
        var folder = folder
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        self.folder = folder
        self.certificatePath = "\(folder)/\(Self.certificateName)"
        self.keyPath = "\(folder)/\(Self.keyName)"
    }

    /// An existing authority. Follows symbolic links, because secrets are often mounted that way.
    public init(certificateFile: String, keyFile: String) {
        self.folder = nil
        self.certificatePath = certificateFile
        self.keyPath = keyFile
    }

    /// Why the key is not safe, with the command that fixes it; nil if it is safe.
    public var warning: String? {
        guard self.keyFile.isReadableByOthers else { return nil }
        return "other users can read the key \"\(self.keyPath)\" and impersonate any site to its clients; run: chmod 600 '\(self.keyPath)'"
    }

    /// - Parameter now: seconds since 1970.
    public func load(now: Int64) throws(CertificateError) -> CertificateAuthority {
        for (file, other) in [(self.certificateFile, self.keyFile), (self.keyFile, self.certificateFile)] {
            guard !file.isPresent else { continue }
            throw CertificateError(.notFound, self.missing(file.path, beside: other.isPresent ? other.path : nil))
        }
        let certificatePEM = try self.certificateFile.read()
        let keyPEM = try self.keyFile.read()
        let chain = try self.naming(self.certificatePath) { () throws(CertificateError) in try CertificateChain(pem: certificatePEM) }
        let key = try self.naming(self.keyPath) { () throws(CertificateError) in try PrivateKey(pem: keyPEM) }
        do {
            return try CertificateAuthority(chain: chain, key: key, now: now)
        } catch {
            throw CertificateError(
                error.code, "\"\(self.certificatePath)\" with \"\(self.keyPath)\": \(error.message)\(self.renewal)", cause: error)
        }
    }

    /// Loads the authority, or creates it if neither file exists. Two programs that start at the same time get the same one.
    ///
    /// - Parameter now: seconds since 1970.
    public func loadOrCreate(now: Int64) throws(CertificateError) -> CertificateAuthority {
        guard let folder = self.folder, !self.certificateFile.isPresent || !self.keyFile.isPresent else { return try self.load(now: now) }
        let lock = try AuthorityFolder(folder)
        // Another program may have created it before this one got the lock.
        if !self.certificateFile.isPresent, !self.keyFile.isPresent {
            let authority = try CertificateAuthority.make(now: now)
            try self.keyFile.create(authority.keyPEM(), mode: 0o600)
            do {
                try self.certificateFile.create(authority.certificatePEM(), mode: 0o644)
            } catch {
                // A key alone would stop every later start.
                self.keyFile.remove()
                throw error
            }
            lock.synchronize()
        }
        return try self.load(now: now)
    }

    private var certificateFile: AuthorityFile { AuthorityFile(path: self.certificatePath, followsLinks: self.folder == nil) }

    private var keyFile: AuthorityFile { AuthorityFile(path: self.keyPath, followsLinks: self.folder == nil) }

    /// What to do with files that were created here. Only the clients' trust depends on them.
    private var renewal: String {
        self.folder == nil ? "" : "; or remove both files, start again, and trust the new authority"
    }

    private func missing(_ path: String, beside other: String?) -> String {
        guard let other else { return "there is no authority: \"\(path)\" does not exist; name another file or create an authority" }
        let otherwise = self.folder == nil ? "name another" : "remove the other too, start again, and trust the new authority"
        return "\"\(path)\" is missing, but \"\(other)\" exists; restore it or \(otherwise)"
    }

    private func naming<Value: ~Copyable>(
        _ path: String, _ body: () throws(CertificateError) -> Value
    ) throws(CertificateError) -> Value {
        do {
            return try body()
        } catch {
            throw CertificateError(error.code, "\"\(path)\": \(error.message)\(self.renewal)", cause: error)
        }
    }
}

/// Holds the lock of the folder in which an authority is created, so that two programs do not create one each. Releases it in deinit.
struct AuthorityFolder: ~Copyable {
    /// Five seconds in total. Creating an authority takes a few milliseconds.
    private static let tries = 500
    /// Milliseconds.
    private static let pause: Int32 = 10

    private let descriptor: Int32
    private let path: String

    /// Creates the folder and its parents, for the owner only, if they are missing, and waits for the lock.
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
        // Some network file systems have no locks. There, hard links ensure that creating a file never replaces another.
        guard result == 0 || errno == ENOLCK || errno == EOPNOTSUPP else {
            let number = errno
            close(descriptor)
            throw Self.error(number, "lock", path)
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        // A process that was forked meanwhile may still have a copy of the descriptor, which would keep the lock.
        _ = flock(self.descriptor, LOCK_UN)
        close(self.descriptor)
    }

    /// Waits until the names of new files are on the disk. Ignores errors: some file systems cannot sync a folder.
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
        // Another program may have created it in the meantime.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw self.error(errno, "create", path) }
    }

    private static func error(_ number: Int32, _ operation: String, _ path: String) -> CertificateError {
        let reason = number == EWOULDBLOCK ? "another program holds it" : String(cString: strerror(number))
        return CertificateError(.unwritable, "cannot \(operation) the folder \"\(path)\": \(reason); fix that or name another folder")
    }
}

/// One file of an authority, read or created as a whole. Never changes an existing file.
struct AuthorityFile {
    /// Far above the size of any chain.
    private static let limit = 1 << 20

    let path: String
    let followsLinks: Bool

    /// Whether anything has this name, even a broken link.
    var isPresent: Bool {
        var status = stat()
        return lstat(self.path, &status) == 0
    }

    /// Whether the mode gives anyone but the owner any access.
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

    /// Writes a file under another name, and links it to this name once it is complete and on disk. Fails if the name is taken.
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
        // Unlike a rename, a link never replaces a file.
        guard link(draft, self.path) == 0 else { throw self.error(errno, "create", .unwritable) }
    }

    /// Undoes `create`.
    func remove() { unlink(self.path) }

    private func error(_ number: Int32, _ operation: String, _ code: CertificateError.Code) -> CertificateError {
        switch number {
        case ENOENT where operation == "open":
            return CertificateError(.notFound, "\"\(self.path)\" does not exist; name a file in PEM form")
        case ELOOP:
            return CertificateError(
                .unsafePath, "\"\(self.path)\" is a symbolic link, and links are not followed here; replace it with the file itself"
            )
        default:
            let reason = String(cString: strerror(number))
            return CertificateError(code, "cannot \(operation) \"\(self.path)\": \(reason); fix that or name another folder")
        }
    }
}
