internal import Foundation

/// Octets on the disk between two who are not equally fast: first in, first out.
///
/// The file has no name any more once it is open: nothing stays behind a process that dies.
// SAFETY: used under the lock of its owner.
final class ChunkSpool: @unchecked Sendable {
    private let file: FileHandle
    private var written: UInt64 = 0
    private var read: UInt64 = 0

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        // What comes from a network is nobody else's to read.
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path])
        }
        defer { try? FileManager.default.removeItem(at: url) }
        self.file = try FileHandle(forUpdating: url)
    }

    deinit { try? self.file.close() }

    func append(_ data: Data) throws {
        try self.file.seek(toOffset: self.written)
        try self.file.write(contentsOf: data)
        self.written += UInt64(data.count)
    }

    /// The next octets, all of which were appended before.
    func next(_ count: Int) throws -> Data {
        try self.file.seek(toOffset: self.read)
        guard count > 0 else { return Data() }
        guard let data = try self.file.read(upToCount: count), data.count == count else { throw CocoaError(.fileReadCorruptFile) }
        self.read += UInt64(count)
        return data
    }
}
