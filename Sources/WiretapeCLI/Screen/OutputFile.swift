internal import CassetteModel
internal import CassetteStore
internal import Platform

/// The output of a cassette's contents: a file, or standard output; written in blocks.
final class OutputFile {
    private static let blockSize = 256 << 10

    private let descriptor: Int32
    private let name: String
    private var block: [UInt8] = []
    /// The new file, which becomes the target once it is whole; nil if the output is written in place.
    private var fresh: FreshFile?
    /// The cassette, whose mode limits that of the output.
    private let source: String?

    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - source: the cassette that is read or written meanwhile, which the output must not overwrite. Nobody may read the output who may
    ///     not read the cassette.
    ///   - keepsOld: whether an old file stays as it is until `finish`. Devices and pipes are written at once.
    ///   - removesOld: whether there is no file until `finish`, so that an old one is not mistaken for the new one.
    init(
        path: String?, from source: String? = nil, keepsOld: Bool = false, removesOld: Bool = false
    ) throws(CassetteError) {
        self.name = path ?? "standard output"
        guard let path else {
            self.descriptor = STDOUT_FILENO
            self.source = nil
            return
        }
        if let source, WholeFile.areSame(path, source) {
            throw CassetteError(.unwritable, "\"\(path)\" is the cassette itself: choose another --output.")
        }
        let target = Self.destination(of: path)
        self.source = source
        let mode = CassettePlace.limited(0o644, to: source)
        let fresh: FreshFile?
        if (keepsOld || removesOld) && Self.isReplaceable(target) {
            guard let new = FreshFile(target: target, mode: mode) else { throw Self.unwritable(path, "choose another --output.") }
            self.descriptor = new.descriptor
            fresh = new
        } else {
            self.descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode_t(mode))
            guard self.descriptor >= 0 else { throw Self.unwritable(path, "choose another --output.") }
            fresh = nil
        }
        self.fresh = fresh
        if removesOld, fresh != nil { unlink(target) }
    }

    deinit {
        if self.descriptor != STDOUT_FILENO { close(self.descriptor) }
        self.fresh?.remove()
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
        var status = stat()
        // An old file keeps its mode, unless the cassette's is stricter.
        if stat(fresh.target, &status) == 0 || fstat(self.descriptor, &status) == 0 {
            let mode = CassettePlace.limited(UInt32(status.st_mode & 0o777), to: self.source)
            fchmod(self.descriptor, status.st_mode & 0o7000 | mode_t(mode))
        }
        guard fsync(self.descriptor) == 0, fresh.replaceTarget() else {
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
