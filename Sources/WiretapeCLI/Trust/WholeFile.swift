internal import CassetteTools
internal import Platform

/// A file that fits into memory, read and replaced as a whole.
///
/// Follows symbolic links when reading. Does not interpret the bytes.
enum WholeFile {
    /// In bytes. Debian's bundle of roots has 0.2 MB, and no setting names more than a few of them.
    static let limit = 16 << 20

    static func read(_ path: String, limit: Int = Self.limit) throws(TrustError) -> [UInt8] {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw TrustError("a file's path is empty or contains a NUL: pass the file's path.")
        }
        // Opening must not block if there is a pipe in place of the file.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw self.problem("read", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw self.problem("read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw TrustError("\"\(path)\" is not a file: pass the file's path.") }
        guard status.st_size <= limit else {
            throw TrustError("\"\(path)\" has more than \(Quantity.bytes(limit)): is it the right file?")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled, off_t(filled))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw self.problem("read", path) }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// Replaces a file atomically: a reader sees the old file or the new one, complete.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(TrustError) {
        guard let new = FreshFile(target: path, mode: UInt32(mode)) else { throw self.problem("write", path) }
        let descriptor = new.descriptor
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Terminal.write($0, to: descriptor) }
            guard count > 0 else { break }
            written += count
        }
        // fchmod, since the umask must not change the mode; fsync, since the file is not read again before it is used.
        let isWhole = written == bytes.count && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let problem = self.problem("write", path)
        // Closed last: without its lock, another process takes the file for a leftover.
        defer { close(descriptor) }
        guard isWhole, new.replaceTarget() else {
            new.remove()
            throw problem
        }
    }

    /// Whether two paths refer to the same file, or would if it existed.
    static func areSame(_ left: String, _ right: String) -> Bool {
        var one = stat()
        var other = stat()
        switch (stat(left, &one), stat(right, &other)) {
        case (0, 0): return one.st_dev == other.st_dev && one.st_ino == other.st_ino
        case (0, _), (_, 0): return false
        default:
            let (left, right) = (Self.parts(left), Self.parts(right))
            guard left.name == right.name, stat(left.folder, &one) == 0, stat(right.folder, &other) == 0 else { return false }
            return one.st_dev == other.st_dev && one.st_ino == other.st_ino
        }
    }

    private static func parts(_ path: String) -> (folder: String, name: Substring) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path[...]) }
        return (String(path[...slash]), path[path.index(after: slash)...])
    }

    private static func problem(_ verb: String, _ path: String) -> TrustError {
        let number = errno
        let next =
            switch number {
            case ENOENT, ENOTDIR: "check the path"
            case EACCES, EPERM: "check the owner and the mode of the file and its folder"
            case ENOSPC, EDQUOT: "free some space"
            case EROFS: "choose another folder"
            default: "check the file and its disk"
            }
        return TrustError("cannot \(verb) \"\(path)\" (\(String(cString: strerror(number)))): \(next).")
    }
}
