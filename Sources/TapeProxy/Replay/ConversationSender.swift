internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// Sends a recorded body message by message, as fast as the client takes it. A body in a file is read piece by piece.
///
/// Holds one piece at a time. Does not know when a message is due. Not Sendable: lives on its event loop.
final class ConversationSender {
    /// A longer message is sent in parts, so that no more data waits for the client than its window admits.
    private static let partSize = 64 << 10

    private enum Job { case message, rest }

    private let client: any ClientStream
    private let stream: ReplayFileStream?
    private var frames = GRPCFrames()
    /// Loaded bytes. Those from `position` on have not been sent.
    private var loaded: [UInt8] = []
    private var position = 0
    private var isLastLoaded: Bool
    private var isLoading = false
    private var isRunning = false
    private var job: Job?
    private var done: ((_ problem: String?) -> Void)?

    init(_ answer: RecordedAnswer, client: any ClientStream, library: ReplayLibrary?) {
        self.client = client
        var content: ReplayFileStream.Content?
        switch answer.payload {
        case .none: break
        case .bytes(let bytes): self.loaded = bytes
        case .file(let sidecar): content = .sidecar(sidecar)
        case .parts(let body): content = .parts(body)
        case .coded(let body, _): content = .coded(body)
        }
        self.stream = content.flatMap { library?.open($0) }
        self.isLastLoaded = content == nil
    }

    /// Sends the next message to its end.
    ///
    /// - Parameter done: called when the message has been written, or with the problem if the file is damaged.
    func sendMessage(_ done: @escaping (_ problem: String?) -> Void) { self.begin(.message, done) }

    /// Sends the rest of a truncated body that follows its last complete message.
    func sendRest(_ done: @escaping (_ problem: String?) -> Void) { self.begin(.rest, done) }

    private func begin(_ job: Job, _ done: @escaping (_ problem: String?) -> Void) {
        self.job = job
        self.done = done
        self.proceed()
    }

    /// Continues once the client has taken some bytes.
    func proceed() {
        guard !self.isRunning else { return }
        self.isRunning = true
        defer { self.isRunning = false }
        while let job, self.client.isWritable {
            if self.position == self.loaded.count {
                guard !self.isLastLoaded else { return self.finish() }
                return self.load()
            }
            let bytes = self.loaded[self.position..<min(self.loaded.count, self.position + Self.partSize)]
            let piece = bytes.withUnsafeBytes { self.frames.take($0) }
            self.position += piece.count
            self.client.send(BodyPiece(bytes: ByteBuffer(bytes: bytes.prefix(piece.count))))
            if job == .message, piece.isLast { return self.finish() }
        }
        self.client.flush()
    }

    private func load() {
        guard let stream, !self.isLoading else { return }
        self.isLoading = true
        self.client.flush()
        stream.next { [weak self] piece in
            guard let self, self.job != nil else { return }
            self.isLoading = false
            self.position = 0
            switch piece {
            case .bytes(let bytes): self.loaded = bytes
            case .last(let bytes):
                self.loaded = bytes
                self.isLastLoaded = true
            case .damaged(let problem):
                self.loaded = []
                return self.finish(problem: problem)
            }
            self.proceed()
        }
    }

    private func finish(problem: String? = nil) {
        self.job = nil
        let done = self.done.take()
        // The next job may begin sending at once.
        self.isRunning = false
        done?(problem)
    }

    func stop() {
        self.job = nil
        self.done = nil
    }
}
