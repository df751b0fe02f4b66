internal import CassetteModel
internal import Platform

/// Where a cassette's contents go: a file, or standard output; written in blocks.
final class OutputFile {
    private static let blockSize = 256 << 10

    private let descriptor: Int32
    private let name: String
    private var block: [UInt8] = []

    /// - Parameters:
    ///   - path: nil for standard output.
    ///   - source: the file that is read meanwhile, which writing would destroy.
    init(path: String?, from source: String? = nil) throws(CassetteError) {
        self.name = path ?? "standard output"
        guard let path else {
            self.descriptor = STDOUT_FILENO
            return
        }
        if let source, WholeFile.areSame(path, source) {
            throw CassetteError(.unwritable, "\"\(path)\" is the cassette itself: give another --output.")
        }
        self.descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard self.descriptor >= 0 else {
            throw CassetteError(.unwritable, "\"\(path)\" cannot be written (\(String(cString: strerror(errno)))): give another --output.")
        }
    }

    deinit {
        if self.descriptor != STDOUT_FILENO { close(self.descriptor) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CassetteError) {
        self.block.append(contentsOf: bytes)
        if self.block.count >= Self.blockSize { try self.flush() }
    }

    func finish() throws(CassetteError) { try self.flush() }

    private func flush() throws(CassetteError) {
        var offset = 0
        while offset < self.block.count {
            let count = self.block[offset...].withUnsafeBytes { Terminal.write($0, to: self.descriptor) }
            guard count > 0 else {
                throw CassetteError(
                    .unwritable, "\"\(self.name)\" cannot be written (\(String(cString: strerror(errno)))): is its disk full?")
            }
            offset += count
        }
        self.block.removeAll(keepingCapacity: true)
    }
}
