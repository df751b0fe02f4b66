internal import CassetteStore
internal import Foundation

extension InputStream {
    /// Octets that are read at once.
    private static let pieceSize = 64 << 10

    /// All octets, in memory. Never asks for `streamError`: where there is none, Foundation on Linux ends the process.
    func contents() throws -> Data {
        var result = Data()
        try self.read { result.append(contentsOf: $0) }
        return result
    }

    /// All octets, in a file that is removed with the last reference to it.
    func spooled(in folder: URL?) throws -> TemporaryFile {
        try TemporaryFile(form: folder?.path) { write in try self.read { try write($0) } }
    }

    private func read(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard self.streamStatus == .notOpen else {
            throw WiretapeError(
                .requestBody, "the stream of the body has been opened already, and cannot be read twice: give the data or a file")
        }
        self.open()
        defer { self.close() }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        guard let start = piece.baseAddress else { return }
        while true {
            let count = self.read(start.assumingMemoryBound(to: UInt8.self), maxLength: piece.count)
            guard count >= 0 else {
                throw WiretapeError(.requestBody, "the stream of the body could not be read to its end: give the data or a file")
            }
            guard count > 0 else { return }
            try take(UnsafeRawBufferPointer(rebasing: piece.prefix(count)))
        }
    }
}
