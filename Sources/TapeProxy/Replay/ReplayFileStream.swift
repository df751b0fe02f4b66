internal import NIOCore
internal import NIOPosix
internal import TapeCore

/// A large recorded body, read piece by piece on a thread that may wait for the disk.
///
/// Not Sendable: lives on its event loop.
final class ReplayFileStream {
    enum Piece: Sendable {
        case bytes([UInt8])
        /// The end; the whole has proven right.
        case last([UInt8])
        case damaged
    }

    static let pieceSize = 256 << 10

    private let loop: any EventLoop
    private let threads: NIOThreadPool
    private let state: Opening

    /// The open file, touched by one read at a time.
    ///
    /// SAFETY: the event loop starts a read only when the one before has come back, so that no two threads meet here.
    private final class Opening: @unchecked Sendable {
        let sidecar: Sidecar
        let bodies: BodyReader
        var stream: BodyStream?

        init(sidecar: Sidecar, bodies: BodyReader) {
            self.sidecar = sidecar
            self.bodies = bodies
        }

        private func opened() throws(CassetteError) -> BodyStream {
            if let stream = self.stream { return stream }
            let stream = try self.bodies.open(self.sidecar, digest: FastSHA256())
            self.stream = stream
            return stream
        }

        func next() throws(CassetteError) -> Piece {
            let stream = try self.opened()
            var bytes = [UInt8](repeating: 0, count: min(ReplayFileStream.pieceSize, stream.remaining))
            let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(CassetteError) in
                try stream.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            bytes.removeSubrange(count...)
            return stream.remaining == 0 ? .last(bytes) : .bytes(bytes)
        }
    }

    init(sidecar: Sidecar, bodies: BodyReader, loop: any EventLoop, threads: NIOThreadPool) {
        self.loop = loop
        self.threads = threads
        self.state = Opening(sidecar: sidecar, bodies: bodies)
    }

    /// Reads the next piece; call again only after the call back.
    func next(_ then: @escaping (Piece) -> Void) {
        let state = self.state
        let reading = self.threads.runIfActive(eventLoop: self.loop) { try state.next() }
        reading.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let piece): then(piece)
            case .failure: then(.damaged)
            }
        }
    }
}
