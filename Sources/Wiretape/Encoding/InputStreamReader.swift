internal import Foundation
internal import TapeBytes

/// An input stream that is read once.
///
/// Never asks for its `streamError`: where there is none, Foundation on Linux ends the process.
// SAFETY: the stream is touched only by the one reader that `open` hands out, and only one encoder at a time calls that.
final class InputStreamReader: @unchecked Sendable {
    private let stream: InputStream
    private let isTaken = Guarded(false)

    init(_ stream: InputStream) { self.stream = stream }

    func open() throws -> FormDataStream.Read {
        let wasTaken = self.isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        }
        guard !wasTaken, self.stream.streamStatus == .notOpen else {
            throw FormDataError(
                .unreadable, "the stream of a part has been read already, and cannot be read twice: append the data or a file in its place")
        }
        self.stream.open()
        return { [self] buffer in
            guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
            let count = self.stream.read(start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
            guard count >= 0 else {
                throw FormDataError(.unreadable, "the stream of a part could not be read: append the data or a file in its place")
            }
            return count
        }
    }

    deinit { self.stream.close() }
}
