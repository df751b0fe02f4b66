internal import NIOCore
internal import TapeCore
internal import TapeExchange

/// Sends a recorded body, piece by piece where it lies in a file, at the client's pace.
///
/// The end of a body from a file goes out only when the file's digest was right: a damaged file is never delivered as whole. Not
/// Sendable: lives on its event loop.
final class ReplayBodySender {
    private let answer: RecordedAnswer
    private let client: ClientHandler
    private let library: ReplayLibrary?
    private var framer: BodyFramer
    private var stream: ReplayFileStream?
    private var isLoading = false
    private var done: ((_ isWhole: Bool) -> Void)?

    init(answer: RecordedAnswer, isChunked: Bool, client: ClientHandler, library: ReplayLibrary?) {
        self.answer = answer
        self.client = client
        self.library = library
        let size =
            switch answer.payload {
            case .none: 0
            case .bytes(let bytes): bytes.count
            case .file(let sidecar): sidecar.size
            case .parts(let body): body.octetCount
            case .coded(_, let size): size
            }
        self.framer = BodyFramer(
            arrival: answer.arrival, isChunked: isChunked, size: size, isComplete: answer.isComplete, trailers: answer.trailers)
    }

    func start(_ done: @escaping (_ isWhole: Bool) -> Void) {
        self.done = done
        switch self.answer.payload {
        case .none:
            self.finish([], isWhole: true)
        case .bytes(let bytes):
            var wire: [UInt8] = []
            bytes.withUnsafeBytes { self.framer.frame($0, into: &wire) }
            self.finish(wire, isWhole: true)
        case .file(let sidecar):
            self.stream = self.library?.open(.sidecar(sidecar))
            self.proceed()
        case .parts(let body):
            self.stream = self.library?.open(.parts(body))
            self.proceed()
        case .coded(let body, _):
            self.stream = self.library?.open(.coded(body))
            self.proceed()
        }
    }

    /// Loads and sends the next piece, unless the client is still busy with the last ones.
    func proceed() {
        guard let stream, !self.isLoading, self.client.isWritable, self.done != nil else { return }
        self.isLoading = true
        stream.next { [weak self] piece in
            guard let self, self.done != nil else { return }
            self.isLoading = false
            switch piece {
            case .bytes(let bytes):
                var wire: [UInt8] = []
                wire.reserveCapacity(bytes.count + 32)
                bytes.withUnsafeBytes { self.framer.frame($0, into: &wire) }
                self.write(wire)
                self.client.flush()
                self.proceed()
            case .last(let bytes):
                var wire: [UInt8] = []
                bytes.withUnsafeBytes { self.framer.frame($0, into: &wire) }
                self.finish(wire, isWhole: true)
            case .damaged:
                self.finish([], isWhole: false)
            }
        }
    }

    func stop() {
        self.done = nil
        self.stream = nil
    }

    private func write(_ wire: [UInt8]) {
        guard !wire.isEmpty else { return }
        self.client.proxy.count { $0.bytes += wire.count }
        self.client.write(ByteBuffer(bytes: wire))
    }

    private func finish(_ last: [UInt8], isWhole: Bool) {
        guard let done else { return }
        self.stop()
        var wire = last
        if isWhole { self.framer.end(into: &wire) }
        self.write(wire)
        self.client.flush()
        done(isWhole)
    }
}
