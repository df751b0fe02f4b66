internal import Platform
internal import TapeTLS

/// One `wiretape serve` for all processes of one user that start it with the same arguments in the same folder.
///
/// The first process serves; each later one prints what the first printed, and waits. The server ends when the first process's standard
/// input is closed and no other process is left. This relies on file locks (flock(2)), which the kernel releases when a process ends,
/// however it ends:
/// - `NAME.entry` is held while a process joins or starts, so that two do not start at once.
/// - `NAME.users` is shared by all who use the server; the server locks it exclusively before it ends.
/// - `NAME.server` is held by the server; its contents are the ready line.
final class SharedServe {
    /// The role of a process.
    enum Role {
        case server(SharedServe)
        /// - readyLine: the line that the server printed.
        case user(SharedServe, readyLine: String)
    }

    /// A server that is ending needs at most its grace period. A process that waits longer than this reports it.
    static let patience = 120

    /// Held until the server listens.
    private var entry: LockedFile?
    let users: LockedFile
    /// Nil for a user.
    private let server: LockedFile?

    private init(entry: LockedFile?, users: LockedFile, server: LockedFile?) {
        self.entry = entry
        self.users = users
        self.server = server
    }

    /// Joins the running server, or makes this process the server. Waits for a server that is just ending.
    ///
    /// - Parameters:
    ///   - identity: the properties that two processes must have in common to share a server.
    ///   - folder: the folder for the locks, which only this user can access.
    static func join(_ identity: [String], in folder: String) throws(TrustError) -> Role {
        let path = "\(folder)/serve-\(try self.name(identity))"
        let entry = try LockedFile("\(path).entry")
        try entry.lock(.exclusive)
        for _ in 0..<(Self.patience * 100) {
            let users = try LockedFile("\(path).users")
            guard users.tryLock(.shared) else {
                // The server holds the exclusive lock, so it is ending.
                usleep(10_000)
                continue
            }
            let server = try LockedFile("\(path).server")
            if server.tryLock(.exclusive) {
                return .server(SharedServe(entry: entry, users: users, server: server))
            }
            return .user(SharedServe(entry: nil, users: users, server: nil), readyLine: server.text)
        }
        throw TrustError("another wiretape serve with these options has been ending for \(Self.patience) seconds: end its process.")
    }

    /// Lets others in. Call when the server listens.
    func publish(_ readyLine: String) throws(TrustError) {
        try self.server?.write(readyLine)
        self.entry = nil
    }

    /// The folder for the locks, created if it is missing.
    ///
    /// - Throws: if another user could write there.
    static func folder(environment: [String: String]) throws(TrustError) -> String {
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") && access($0, W_OK) == 0 ? $0 : nil }
        let temporary = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        let path = runtime.map { "\($0)/wiretape" } ?? "\(temporary)/wiretape-\(geteuid())"
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw TrustError("cannot create the folder \"\(path)\" (\(String(cString: strerror(errno)))): set TMPDIR to a writable folder.")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0
        else {
            throw TrustError("\"\(path)\" is not a folder of yours alone: remove it, or set TMPDIR to another folder.")
        }
        return path
    }

    private static func name(_ identity: [String]) throws(TrustError) -> String {
        guard var digest = SHA256Digest() else {
            throw TrustError("OpenSSL offers no SHA-256: check the configuration that \"openssl version -a\" names.")
        }
        for text in identity { Array(text.utf8 + [0]).withUnsafeBytes { digest.update($0) } }
        return digest.finalize().prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A file with a lock (flock(2)), which ends with this object or its process.
final class LockedFile: Sendable {
    enum Kind { case shared, exclusive }

    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws(TrustError) {
        self.path = path
        self.descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard self.descriptor >= 0 else {
            throw TrustError("cannot open \"\(path)\" (\(String(cString: strerror(errno)))): set TMPDIR to a writable folder.")
        }
    }

    deinit { close(self.descriptor) }

    func lock(_ kind: Kind) throws(TrustError) {
        while flock(self.descriptor, kind == .shared ? LOCK_SH : LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw TrustError("cannot lock \"\(self.path)\" (\(String(cString: strerror(errno)))): set TMPDIR to a local folder.")
            }
        }
    }

    /// False if another process holds the lock.
    func tryLock(_ kind: Kind) -> Bool {
        flock(self.descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0
    }

    /// Releases the lock, and waits until this process holds it exclusively.
    func waitForOthers() {
        _ = flock(self.descriptor, LOCK_UN)
        try? self.lock(.exclusive)
    }

    var text: String { (try? WholeFile.read(self.path)).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    func write(_ text: String) throws(TrustError) {
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { ftruncate(self.descriptor, 0) == 0 ? pwrite(self.descriptor, $0.baseAddress, $0.count, 0) : -1 }
        guard count == bytes.count else {
            throw TrustError("cannot write \"\(self.path)\" (\(String(cString: strerror(errno)))): free space, or set TMPDIR.")
        }
    }
}
