internal import CassetteStore
internal import Foundation

/// Reads a stream of a foreign session to its end, once, so that its octets can be matched, sent and recorded.
///
/// Blocks while the stream does: never called on a queue of URLSession. Does not look at `streamError`, whose getter kills the process on
/// Linux where there is no error.
enum SpooledStream {
    /// So many octets are kept in memory; more go into a file, so that an upload of a film does not.
    static let memoryLimit = 10 << 20
    private static let pieceSize = 64 << 10

    struct Spooled: Sendable {
        var body: RequestBody
        /// Holds the file for as long as the body is needed.
        var file: TemporaryFile?
    }

    static func read(_ stream: InputStream, memoryLimit: Int = Self.memoryLimit) throws(TransportFailure) -> Spooled {
        if stream.streamStatus == .notOpen { stream.open() }
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        var data = Data()
        while data.count <= memoryLimit {
            let count = try Self.read(stream, into: &buffer)
            guard count > 0 else { return Spooled(body: .data(data), file: nil) }
            data.append(contentsOf: buffer[..<count])
        }
        do {
            let file = try TemporaryFile(form: nil) { write in
                try data.withUnsafeBytes { try write($0) }
                while true {
                    let count = try Self.read(stream, into: &buffer)
                    guard count > 0 else { return }
                    try buffer[..<count].withUnsafeBytes { try write($0) }
                }
            }
            return Spooled(body: .file(URL(fileURLWithPath: file.path), size: file.size), file: file)
        } catch {
            throw error as? TransportFailure
                ?? TransportFailure(.body, "the body of the request cannot be kept: \(error)", underlying: error)
        }
    }

    /// Answers how many octets came; 0 at the end.
    private static func read(_ stream: InputStream, into buffer: inout [UInt8]) throws(TransportFailure) -> Int {
        let count = buffer.withUnsafeMutableBufferPointer { piece in
            // A buffer with a count of its own always has an address.
            piece.baseAddress.map { stream.read($0, maxLength: piece.count) } ?? 0
        }
        guard count >= 0, stream.streamStatus != .error else {
            throw TransportFailure(.body, "the stream of the request's body cannot be read to its end: see who fills it")
        }
        return count
    }
}
