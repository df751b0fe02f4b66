internal import CassetteStore
internal import Foundation

/// Finds the body of a request by looking at the request and its task.
enum BodyRule {
    /// The body that the task holds, if it can be inspected.
    enum Kept {
        /// The task cannot be inspected.
        case unknown
        case none
        /// The delegate creates it on demand.
        case unmade
        case data(Data)
        case file(URL)
        case stream(InputStream)
    }

    /// - Parameters:
    ///   - data: the request's own body.
    ///   - stream: the request's own stream.
    ///   - isUpload: whether the task has a body of its own. On Linux, the request's body is then not sent.
    ///   - kept: inspects the task; called only if the request does not show its body.
    ///   - hasOwnUploads: whether the platform shows the body of an upload in the request, as Apple's platforms do.
    static func body(
        data: Data?, stream: InputStream?, isUpload: Bool, hasOwnUploads: Bool, kept: () -> Kept
    ) -> VisibleBody {
        if !isUpload || hasOwnUploads {
            if let data, !data.isEmpty { return .data(data) }
            if let stream { return .stream(stream) }
            return isUpload ? .hidden : .none
        }
        switch kept() {
        case .unknown: return .hidden
        case .none: return .none
        case .unmade: return .ofDelegate
        case .data(let data): return .data(data)
        case .file(let url): return .file(url)
        case .stream(let stream): return .stream(stream)
        }
    }
}

/// The part of a request's body that a load can see.
enum VisibleBody {
    case none
    case data(Data)
    case file(URL)
    case stream(InputStream)
    /// The delegate creates the stream on demand.
    case ofDelegate
    /// There is a body, but the system does not expose it.
    case hidden
}

/// Reads the body stream of a foreign `URLSession` to its end, once, so that its bytes can be matched, sent and recorded.
///
/// Blocks while the stream blocks, so it is never called on a queue of URLSession. Does not read `streamError`, whose getter crashes the
/// process on Linux if there is no error.
enum SpooledStream {
    /// Bytes that are kept in memory; a longer body is written to a file.
    static let memoryLimit = 10 << 20
    private static let pieceSize = 64 << 10

    struct Spooled: Sendable {
        var body: RequestBody
        /// Deletes the file when it is released.
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
                ?? TransportFailure(.body, "the request's body could not be stored: \(error)", cause: error)
        }
    }

    /// - Returns: the number of bytes read; 0 at the end.
    private static func read(_ stream: InputStream, into buffer: inout [UInt8]) throws(TransportFailure) -> Int {
        let count = buffer.withUnsafeMutableBufferPointer { piece in
            // The address is nil only for an empty buffer.
            piece.baseAddress.map { stream.read($0, maxLength: piece.count) } ?? 0
        }
        guard count >= 0, stream.streamStatus != .error else {
            throw TransportFailure(.body, "the request's body stream could not be read to its end: check the code that writes to it")
        }
        return count
    }
}
