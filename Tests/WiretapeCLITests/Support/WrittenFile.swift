import Platform
import TapeTestSupport

/// A file in place of a standard stream, which is no terminal.
final class WrittenFile {
    let descriptor: Int32
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        self.descriptor = open(self.folder.file("stream"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw TestProblem("no file (\(String(cString: strerror(errno))))") }
    }

    deinit { close(self.descriptor) }

    func text() throws -> String { String(decoding: try self.folder.read("stream"), as: UTF8.self) }
}
