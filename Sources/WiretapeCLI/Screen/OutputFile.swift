internal import CassetteModel
internal import Platform

/// The output of a cassette's contents: a file, or standard output; written in blocks.
final class OutputFile {
    private static let blockSize = 256 << 10

    private let descriptor: Int32
    private let name: String
    private var block: [UInt8] = []
    /// The new file, which becomes `target` once it is whole; nil if the output is written in place.
    private var fresh: (path: String, target: String)?

    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - source: the file that is read meanwhile, which the output must not overwrite.
    ///   - keepsOld: whether an old file stays as it is until `finish`. Devices and pipes are written at once.
    ///   - removesOld: whether there is no file until `finish`, so that an old one is not mistaken for the new one.
    init(
        path: String?, from source: String? = nil, keepsOld: Bool = false, removesOld: Bool = false
    ) throws(CassetteError) {
        self.name = path ?? "standard output"
        guard let path else {
            self.descriptor = STDOUT_FILENO
            return
        }
        if let source, WholeFile.areSame(path, source) {
            throw CassetteError(.unwritable, "\"\(path)\" is the cassette itself: choose another --output.")
        }
        let target = Self.destination(of: path)
        let fresh = (keepsOld || removesOld) && Self.isReplaceable(target) ? "\(target).\(getpid()).new" : nil
        // Removes a leftover of another process with the same ID.
        if let fresh { unlink(fresh) }
        self.descriptor = open(fresh ?? path, O_WRONLY | O_CREAT | (fresh == nil ? O_TRUNC : O_EXCL) | O_CLOEXEC, 0o644)
        guard self.descriptor >= 0 else { throw Self.unwritable(path, "choose another --output.") }
        self.fresh = fresh.map { ($0, target) }
        if removesOld, fresh != nil { unlink(target) }
    }

    deinit {
        if self.descriptor != STDOUT_FILENO { close(self.descriptor) }
        if let fresh { unlink(fresh.path) }
    }

    /// The file that a symbolic link leads to.
    private static func destination(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func isReplaceable(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == ENOENT }
        return status.st_mode & S_IFMT == S_IFREG && access(path, W_OK) == 0
    }

    private static func unwritable(_ name: String, _ next: String) -> CassetteError {
        CassetteError(.unwritable, "\"\(name)\" cannot be written (\(String(cString: strerror(errno)))): \(next)")
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CassetteError) {
        self.block.append(contentsOf: bytes)
        if self.block.count >= Self.blockSize { try self.flush() }
    }

    /// Call it when everything is written. Without this call, a kept old file stays.
    func finish() throws(CassetteError) {
        try self.flush()
        guard let fresh else { return }
        var old = stat()
        if stat(fresh.target, &old) == 0 { fchmod(self.descriptor, old.st_mode & 0o7777) }
        guard fsync(self.descriptor) == 0, rename(fresh.path, fresh.target) == 0 else {
            throw Self.unwritable(self.name, "is its disk full?")
        }
        self.fresh = nil
    }

    private func flush() throws(CassetteError) {
        var offset = 0
        while offset < self.block.count {
            let count = self.block[offset...].withUnsafeBytes { Terminal.write($0, to: self.descriptor) }
            guard count > 0 else { throw Self.unwritable(self.name, "is its disk full?") }
            offset += count
        }
        self.block.removeAll(keepingCapacity: true)
    }
}
