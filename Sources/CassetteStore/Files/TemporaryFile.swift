public import CassetteModel
internal import Platform
public import TapeBytes

/// Owns a file that only its user may read, and removes it in the end. Written once, read from any thread.
public final class TemporaryFile: Sendable {
    public let path: String
    public let size: Int
    private let file: OpenFile

    /// In `folder`, by default TMPDIR or `/tmp`. If `write` throws, nothing is kept and the error is rethrown.
    ///
    /// Throws `CassetteError` if the file cannot be created or written.
    public init(in folder: String? = nil, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        let folder = folder ?? Self.systemFolder
        var template = Array("\(folder)/wiretape-XXXXXX".utf8CString)
        // Creates the file with mode 0600 and a free name.
        let descriptor = mkstemp(&template)
        let path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
        guard descriptor >= 0 else {
            throw SystemError(number: errno, operation: .create, path: path).cassetteError
        }
        close(descriptor)
        do {
            let file = try OpenFile(path, for: .update)
            var size = 0
            try write { piece in
                try file.write(piece, at: size)
                size += piece.count
            }
            (self.path, self.size) = (path, size)
            self.file = file
        } catch {
            unlink(path)
            throw error
        }
    }

    deinit { unlink(self.path) }

    /// The bytes, which can be read repeatedly. The source keeps the file alive.
    public var source: ByteSource { ByteSource(size: self.size) { try self.read(into: $1, at: $0) } }

    /// - Returns: how many bytes were read; 0 only at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(CassetteError) -> Int {
        try self.file.read(into: buffer, at: offset)
    }

    fileprivate static var systemFolder: String {
        guard let value = getenv("TMPDIR") else { return "/tmp" }
        let folder = String(cString: value)
        return folder.isEmpty ? "/tmp" : folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }
}

/// Owns a file whose name was already removed: it vanishes with its owner, even if the process is killed.
///
/// While it has a name, only its user may read it. Any thread may use it; concurrent writes and reads must not overlap.
public final class UnnamedFile: Sendable {
    private let file: OpenFile

    /// - Parameter folder: nil for TMPDIR, or `/tmp`.
    public init(in folder: String? = nil) throws(CassetteError) {
        var template = Array("\(folder ?? TemporaryFile.systemFolder)/wiretape-body-XXXXXX".utf8CString)
        // Creates the file with mode 0600 and a free name.
        let descriptor = mkstemp(&template)
        let path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
        guard descriptor >= 0 else { throw SystemError(number: errno, operation: .create, path: path).cassetteError }
        defer {
            unlink(path)
            close(descriptor)
        }
        self.file = try OpenFile(path, for: .update)
    }

    /// Writes all bytes or throws.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CassetteError) {
        try self.file.write(bytes, at: offset)
    }

    /// The bytes of a range; throws if the file ends before its end.
    public func read(_ range: Range<Int>) throws(CassetteError) -> [UInt8] {
        try self.file.read(range)
    }

    /// Fills the buffer. False if the file does not have all the bytes, or if reading might have to wait.
    public func readAtOnce(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        self.file.readAtOnce(into: bytes, at: offset)
    }
}
