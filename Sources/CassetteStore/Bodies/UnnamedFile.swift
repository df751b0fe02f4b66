public import CassetteModel
internal import Platform

/// Owns a file that has no name any more: it goes with its owner, even where the process is killed.
///
/// Only its user may read it while it has one. Any thread may use it; what is written and read at once must not overlap.
public final class UnnamedFile: Sendable {
    private let file: OpenFile

    /// - Parameter folder: nil for where TMPDIR says, or `/tmp`.
    public init(in folder: String? = nil) throws(CassetteError) {
        var template = Array("\(folder ?? TemporaryFile.systemFolder)/wiretape-body-XXXXXX".utf8CString)
        // Mode 0600, and a name that was free.
        let descriptor = mkstemp(&template)
        let path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
        guard descriptor >= 0 else { throw SystemError(number: errno, operation: .create, path: path).cassetteError }
        defer {
            unlink(path)
            close(descriptor)
        }
        self.file = try OpenFile(path, for: .update)
    }

    /// Writes all of it or throws.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CassetteError) {
        try self.file.write(bytes, at: offset)
    }

    /// The octets of a range; an error where the file ends before it.
    public func read(_ range: Range<Int>) throws(CassetteError) -> [UInt8] {
        try self.file.read(range)
    }
}
