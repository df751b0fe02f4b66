internal import Platform

/// A folder that bodies are written into, under plain names and through no symbolic link.
final class ExtractFolder {
    /// As the user gave it.
    let path: String
    private let descriptor: Int32
    private let overwrites: Bool

    /// Makes the folder where it is missing; the one it lies in has to be there.
    init(_ path: String, overwrites: Bool) throws(InspectError) {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw Self.problem(path) }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path) }
        self.path = path
        self.descriptor = descriptor
        self.overwrites = overwrites
    }

    deinit { close(self.descriptor) }

    /// - Parameter name: one of `SafeFileName`, with more in front or behind.
    /// - Returns: the file's path.
    @discardableResult
    func write(_ name: String, _ contents: BodyContents) throws -> String {
        try self.write(name) { write in try contents.forEachPiece(write) }
    }

    func write(_ name: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> String {
        let path = "\(self.path)/\(name)"
        // What is there under that name may be a link or have other names: it gives way, and nothing is written through it.
        if self.overwrites { unlinkat(self.descriptor, name, 0) }
        let file = openat(self.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Self.problem(path) }
        defer { close(file) }
        do {
            try body { piece in
                var offset = 0
                while offset < piece.count {
                    let count = Terminal.write(UnsafeRawBufferPointer(rebasing: piece[offset...]), to: file)
                    guard count > 0 else { throw Self.problem(path) }
                    offset += count
                }
            }
        } catch {
            // Half a body would pass for a whole one.
            unlinkat(self.descriptor, name, 0)
            throw error
        }
        return path
    }

    private static func problem(_ path: String) -> InspectError {
        let number = errno
        let next =
            switch number {
            case EEXIST: "is there already: give --overwrite, or another folder."
            case ENOENT: "cannot be made, since the folder it lies in is missing: make that first."
            case ENOTDIR: "is no folder: give another one."
            case ENOSPC, EDQUOT: "cannot be written (\(String(cString: strerror(number)))): free some space."
            default: "cannot be written (\(String(cString: strerror(number)))): give another folder."
            }
        return InspectError(.unwritable, "\"\(path)\" \(next)")
    }
}
