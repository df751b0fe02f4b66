internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import NIOCore

/// A large recorded body that is read piece by piece on a thread that may block on the disk.
///
/// Not Sendable: lives on its event loop.
final class ReplayFileStream {
    enum Piece: Sendable {
        case bytes([UInt8])
        /// The end. The whole body has been verified.
        case last([UInt8])
        /// The problem, including the file and the next step.
        case damaged(String)
    }

    enum Content: Sendable {
        case sidecar(Sidecar)
        /// A multipart body without codings that has some parts in sidecars.
        case parts(Body)
        /// A body whose codings are applied again, or whose original bytes were kept and are compared.
        case coded(Body)
    }

    static let pieceSize = 256 << 10

    private let loop: any EventLoop
    private let disk: WorkPool
    private let state: OpenBody

    init(_ content: Content, bodies: BodyReader, loop: any EventLoop, disk: WorkPool) {
        self.loop = loop
        self.disk = disk
        self.state = OpenBody(content, bodies: bodies)
    }

    /// Reads the next piece. Must not be called again before it has called back.
    func next(_ then: @escaping (Piece) -> Void) {
        let state = self.state
        let reading = self.disk.run(on: self.loop) { try state.next() }
        reading.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let piece): then(piece)
            case .failure(let error as CassetteError): then(.damaged(error.message))
            case .failure: then(.damaged("the replay was stopped before the whole body was read"))
            }
        }
    }

    /// The open body, used by one read at a time.
    ///
    /// SAFETY: the event loop starts a read only after the previous one has returned, so no two threads ever use it at once.
    private final class OpenBody: @unchecked Sendable {
        let content: Content
        let bodies: BodyReader
        var stream: BodyStream?
        var source: ByteSource?
        var restored: RestoredStream?
        var offset = 0

        init(_ content: Content, bodies: BodyReader) {
            self.content = content
            self.bodies = bodies
        }

        func next() throws(CassetteError) -> Piece {
            switch self.content {
            case .sidecar(let sidecar): try self.next(of: sidecar)
            case .parts(let body): try self.next(of: body)
            case .coded(let body): try self.next(ofCoded: body)
            }
        }

        private func next(ofCoded body: Body) throws(CassetteError) -> Piece {
            let restored: RestoredStream
            if let open = self.restored {
                restored = open
            } else {
                restored = try self.bodies.restoredStream(of: body, digest: { FastSHA256() })
                self.restored = restored
            }
            do {
                let piece = try restored.next()
                return restored.isEnded ? .last(piece) : .bytes(piece)
            } catch {
                throw CassetteError(restoring: error)
            }
        }

        private func next(of body: Body) throws(CassetteError) -> Piece {
            let source = try self.opened(body)
            var bytes = [UInt8](repeating: 0, count: min(ReplayFileStream.pieceSize, source.size - self.offset))
            do {
                try bytes.withUnsafeMutableBytes { try source.read(at: self.offset, into: $0) }
            } catch {
                throw CassetteError(.unreadable, "a body cannot be read (\(error)); record the exchange again", cause: error)
            }
            self.offset += bytes.count
            return self.offset == source.size ? .last(bytes) : .bytes(bytes)
        }

        private func opened(_ body: Body) throws(CassetteError) -> ByteSource {
            if let source = self.source { return source }
            let source = try self.bodies.uncodedSource(of: body, digest: { FastSHA256() })
            self.source = source
            return source
        }

        private func opened(_ sidecar: Sidecar) throws(CassetteError) -> BodyStream {
            if let stream = self.stream { return stream }
            let stream = try self.bodies.open(sidecar, digest: FastSHA256())
            self.stream = stream
            return stream
        }

        private func next(of sidecar: Sidecar) throws(CassetteError) -> Piece {
            let stream = try self.opened(sidecar)
            var bytes = [UInt8](repeating: 0, count: min(ReplayFileStream.pieceSize, stream.remaining))
            let count = try bytes.withUnsafeMutableBufferPointer { buffer throws(CassetteError) in
                try stream.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            bytes.removeSubrange(count...)
            return stream.remaining == 0 ? .last(bytes) : .bytes(bytes)
        }
    }
}
