package import CassetteModel
internal import Platform
internal import TapeBytes

/// Owns one open regular file and closes it.
///
/// Every read and write specifies its offset; nothing depends on a file position, so that threads may share it for reading.
package struct OpenFile: ~Copyable, Sendable {
    /// A tenth of a second in total.
    private static let lockTries = 20
    /// Milliseconds.
    private static let lockPause: Int32 = 5

    package enum Access: Sendable {
        case read
        /// An existing file, never opened through a symbolic link.
        case update
        /// A file that must not exist yet.
        case create
    }

    let descriptor: Int32
    /// The path as opened, for error messages.
    let path: String
    private let disk: DiskCalls

    package init(_ path: String, for access: Access, disk: DiskCalls = .system) throws(CassetteError) {
        try self.init(at: AT_FDCWD, name: path, path: path, for: access, followsLinks: access == .read, disk: disk)
    }

    /// Opens `name` in an open folder. Never follows a symbolic link.
    package init(_ name: String, in folder: borrowing OpenFolder, for access: Access, disk: DiskCalls = .system) throws(CassetteError) {
        let path = "\(folder.path)/\(name)"
        guard FileLocation.isPlainName(name) else {
            throw CassetteError(.unsafePath, "\"\(name)\" is not a plain file name; nothing outside \"\(folder.path)\" is opened")
        }
        try self.init(at: folder.descriptor, name: name, path: path, for: access, followsLinks: false, disk: disk)
    }

    /// Opens a body for reading. It may be a symbolic link to another file in its folder.
    package init(body name: String, in folder: borrowing OpenFolder, disk: DiskCalls = .system) throws(CassetteError) {
        try self.init(folder.followed(name), in: folder, for: .read, disk: disk)
    }

    private init(
        at folder: Int32, name: String, path: String, for access: Access, followsLinks: Bool, disk: DiskCalls
    ) throws(CassetteError) {
        guard !name.utf8.contains(0), !name.isEmpty else {
            throw CassetteError(.unsafePath, "\"\(path)\" is not a path: it is empty or contains a NUL; choose another name")
        }
        // O_NONBLOCK: opening a FIFO must not wait for its other end.
        var flags = O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        switch access {
        case .read: flags |= O_RDONLY
        case .update: flags |= O_RDWR
        case .create: flags |= O_RDWR | O_CREAT | O_EXCL
        }
        var descriptor: Int32
        repeat { descriptor = openat(folder, name, flags, 0o644) } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else {
            var number = errno
            var status = stat()
            // Creating over a link, even a dangling one, is reported as "exists".
            let isLink = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
            if number == EEXIST, isLink { number = ELOOP }
            throw SystemError(number: number, operation: access == .create ? .create : .open, path: path).cassetteError
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw CassetteError(.unreadable, "\"\(path)\" is not a regular file; name a file")
        }
        self.descriptor = descriptor
        self.path = path
        self.disk = disk
    }

    #if os(Linux)
    /// Linux's `O_TMPFILE`, a nested macro that Swift does not import.
    private static let unnamed: Int32 = 0o20_000_000 | O_DIRECTORY
    /// Whether an unnamed file can be given a name.
    private static let canLink = access("/proc/self/fd", R_OK | X_OK) == 0

    /// A file without a name that vanishes with its owner, even if the process is killed; nil if the system does not support it.
    ///
    /// - Parameter name: used by `link` and in error messages.
    init?(unnamed name: String, in folder: borrowing OpenFolder, disk: DiskCalls) {
        guard Self.canLink, FileLocation.isPlainName(name) else { return nil }
        let descriptor = openat(folder.descriptor, ".", Self.unnamed | O_RDWR | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        self.path = "\(folder.path)/\(name)"
        self.disk = disk
    }

    /// Gives an unnamed file a name, which must be free.
    func link(as name: String, in folder: borrowing OpenFolder) throws(CassetteError) {
        guard linkat(AT_FDCWD, "/proc/self/fd/\(self.descriptor)", folder.descriptor, name, AT_SYMLINK_FOLLOW) == 0 else {
            throw self.error(errno, .create)
        }
    }
    #endif

    deinit { close(self.descriptor) }

    package func size() throws(CassetteError) -> Int {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw self.error(errno, .read) }
        return Int(status.st_size)
    }

    /// Reads until the buffer is full or the file ends. Returns the number of bytes read.
    package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(CassetteError) -> Int {
        var done = 0
        while done < bytes.count {
            let count = self.disk.read(self.descriptor, UnsafeMutableRawBufferPointer(rebasing: bytes[done...]), offset + done)
            if count == -Int(EINTR) { continue }
            guard count >= 0 else { throw self.error(Int32(-count), .read) }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// The bytes of a range; throws if the file ends before its end.
    func read(_ range: Range<Int>) throws(CassetteError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(CassetteError) in
            try self.read(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
        }
        guard count == range.count else {
            throw CassetteError(.unreadable, "\"\(self.path)\" ended at byte \(range.lowerBound + count) while it was read; open it again")
        }
        return bytes
    }

    /// Fills the buffer with data that the system has in memory. False if some of it is missing, or if the system or file system cannot
    /// tell.
    func readAtOnce(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        #if os(Linux)
        guard let read = Self.vectorRead else { return false }
        var piece = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        return read(self.descriptor, &piece, 1, off_t(offset), Self.noWait) == bytes.count
        #else
        return false
        #endif
    }

    #if os(Linux)
    /// preadv2(2), which Swift's modules omit; nil if the C library does, too.
    private static let vectorRead: (@convention(c) (Int32, UnsafePointer<iovec>, Int32, off_t, Int32) -> Int)? =
        dlsym(nil, "preadv2").map { unsafeBitCast($0, to: (@convention(c) (Int32, UnsafePointer<iovec>, Int32, off_t, Int32) -> Int).self) }
    /// RWF_NOWAIT
    private static let noWait: Int32 = 8
    #endif

    /// Writes all bytes or throws. After an error, any first part of them may be in the file.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CassetteError) {
        var done = 0
        while done < bytes.count {
            let count = self.disk.write(self.descriptor, UnsafeRawBufferPointer(rebasing: bytes[done...]), offset + done)
            if count == -Int(EINTR) { continue }
            // No progress and no error; without this check, the loop might never end.
            guard count > 0 else { throw self.error(count == 0 ? EIO : Int32(-count), .write) }
            done += count
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(CassetteError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CassetteError) in
            try self.write(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }

    func truncate(to size: Int) throws(CassetteError) {
        var result: Int
        repeat { result = self.disk.truncate(self.descriptor, size) } while result == -Int(EINTR)
        guard result == 0 else { throw self.error(Int32(-result), .truncate) }
    }

    /// Waits until the bytes written so far are on disk.
    func synchronize() throws(CassetteError) {
        var result: Int
        repeat { result = self.disk.synchronize(self.descriptor) } while result == -Int(EINTR)
        guard result == 0 else { throw self.error(Int32(-result), .sync) }
    }

    /// Takes the advisory lock that excludes a second recorder; held until the file is closed.
    ///
    /// Between fork and exec, a child process holds a copy of every lock, so this tries several times.
    func lock() throws(CassetteError) {
        var result: Int32
        var tries = 0
        repeat {
            result = flock(self.descriptor, LOCK_EX | LOCK_NB)
            guard result < 0, errno == EWOULDBLOCK, tries < Self.lockTries else { continue }
            tries += 1
            poll(nil, 0, Self.lockPause)
            errno = EINTR
        } while result < 0 && errno == EINTR
        // Some network file systems have no locks. Recording there works as if this lock did not exist.
        guard result == 0 || errno == ENOLCK || errno == EOPNOTSUPP else { throw self.error(errno, .lock) }
    }

    /// Whether `path` still leads to this file, rather than to one that was renamed into its place.
    func isStill(at path: String, followsLinks: Bool = false) -> Bool {
        var own = stat()
        var other = stat()
        guard fstat(self.descriptor, &own) == 0, fstatat(AT_FDCWD, path, &other, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
            return false
        }
        return own.st_ino == other.st_ino && own.st_dev == other.st_dev
    }

    /// Gives this file the mode of another one that it will replace.
    func adoptMode(of other: borrowing OpenFile) throws(CassetteError) {
        var status = stat()
        guard fstat(other.descriptor, &status) == 0, fchmod(self.descriptor, status.st_mode & 0o777) == 0 else {
            throw self.error(errno, .create)
        }
    }

    /// Whether this file still has the name that it was opened by. A link to it is not that name, as what is next to the file would be
    /// elsewhere.
    var isAtItsPath: Bool { self.isStill(at: self.path) }

    /// Takes permissions away that a mode does not have, if the file belongs to this user.
    func withhold(from mode: UInt32) {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0, UInt32(status.st_mode) & 0o777 & ~(mode | 0o600) != 0 else { return }
        fchmod(self.descriptor, status.st_mode & mode_t(mode | 0o600))
    }

    /// Makes it readable only by its owner.
    ///
    /// - Returns: the mode it had.
    func restrict() throws(CassetteError) -> UInt32 {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0, fchmod(self.descriptor, 0o600) == 0 else { throw self.error(errno, .create) }
        return UInt32(status.st_mode & 0o777)
    }

    func setMode(_ mode: UInt32) throws(CassetteError) {
        guard fchmod(self.descriptor, mode_t(mode)) == 0 else { throw self.error(errno, .create) }
    }

    private func error(_ number: Int32, _ operation: SystemError.Operation) -> CassetteError {
        SystemError(number: number, operation: operation, path: self.path).cassetteError
    }

    // MARK: Pieces

    static let pieceSize = 262_144

    /// Reads a range piece by piece, until its end, the end of the file, or until `body` returns false.
    ///
    /// - Parameter overlap: how many bytes of a piece are repeated at the beginning of the next, for patterns that cross the boundary.
    func forEachPiece(
        in range: Range<Int>, overlap: Int = 0, _ body: (_ bytes: UnsafeRawBufferPointer, _ offset: Int) throws(CassetteError) -> Bool
    ) throws(CassetteError) {
        guard !range.isEmpty else { return }
        var buffer = [UInt8](repeating: 0, count: min(Self.pieceSize, range.count))
        try buffer.withUnsafeMutableBufferPointer { (buffer) throws(CassetteError) in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var offset = range.lowerBound
            while offset < range.upperBound {
                let wanted = min(bytes.count, range.upperBound - offset)
                let count = try self.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted]), at: offset)
                guard count > 0, try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]), offset) else { return }
                offset += count
                guard offset < range.upperBound else { return }
                // Always advances, as otherwise a piece no longer than the overlap would be read forever.
                offset -= min(overlap, count - 1)
            }
        }
    }

    /// The offset of the first occurrence of a pattern that is completely within a range. The pattern must begin with a line feed.
    func firstOffset(of pattern: [UInt8], in range: Range<Int>) throws(CassetteError) -> Int? {
        var found: Int?
        try self.forEachPiece(in: range, overlap: pattern.count - 1) { bytes, offset in
            found = Self.firstOffset(of: pattern, in: bytes).map { offset + $0 }
            return found == nil
        }
        return found
    }

    private static func firstOffset(of pattern: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let first = pattern.first, pattern.count <= bytes.count else { return nil }
        let last = bytes.count - pattern.count
        return pattern.withUnsafeBytes { pattern in
            var offset = 0
            while offset <= last {
                if bytes[offset] == first, bytes[offset..<(offset + pattern.count)].elementsEqual(pattern) { return offset }
                offset += 1
            }
            return nil
        }
    }
}

/// Shares one open file; it is closed, and its lock released, with the last reference.
final class SharedFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    /// Opens an existing cassette and takes its lock.
    static func locked(_ path: String, disk: DiskCalls) throws(CassetteError) -> SharedFile {
        while true {
            let shared = SharedFile(try OpenFile(path, for: .update, disk: disk))
            try shared.file.lock()
            // Between opening and locking, another recorder may have replaced the file by a rewritten one.
            if shared.file.isStill(at: path) { return shared }
        }
    }
}
