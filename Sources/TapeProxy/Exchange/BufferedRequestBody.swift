internal import CassetteModel
internal import CassetteStore
internal import NIOCore
internal import TapeExchange

/// A request body that arrives before Wiretape has decided whether to forward the request: its pieces and their arrival times.
///
/// Kept in memory up to a limit. The rest goes to an unnamed file, which is written and read on threads that may block on the disk. Not
/// Sendable: lives on its event loop.
final class BufferedRequestBody {
    /// Bytes held in memory. Nearly every JSON text and form is smaller, and 1,000 clients at once hold at most 1 GiB.
    static let memoryLimit = 1 << 20
    /// The most bytes that one call of `next` returns.
    static let pieceSize = 256 << 10

    /// A piece of the body.
    struct Piece {
        var body: BodyPiece
        /// Arrival time, in milliseconds since the request's start.
        var at: Double
    }

    private let loop: any EventLoop
    private let disk: WorkPool
    /// The bytes that follow those in the file.
    private var memory = ByteBuffer()
    private var file: UnnamedFile?
    /// Bytes in the file, including those being written.
    private var fileSize = 0
    private var readOffset = 0
    private var times = ReadTimes()
    private var isWriting = false
    private var whenWritten: (() -> Void)?
    /// Parses the bytes read back from the file.
    private var parser: BodyParser
    private let isChunked: Bool
    /// The bytes do not mark the end of the body, as with HTTP/2.
    private let endsWithBytes: Bool
    /// The client has yet to send the rest of the body.
    var isPartial = false
    private var trailers: HeaderFields?
    private var isEndRead = false
    /// Why the body was lost; nil if it was not.
    private(set) var problem: CassetteError?

    /// - Parameter framing: framing of the bytes as received.
    init(framing: BodyFraming, loop: any EventLoop, disk: WorkPool, limits: Limits = Limits()) {
        self.parser = BodyParser(framing: framing, side: .request, limits: limits)
        self.isChunked = framing == .chunked
        self.endsWithBytes = framing == .untilClose
        self.loop = loop
        self.disk = disk
    }

    // MARK: Writing

    func append(_ piece: BodyPiece, at: Double) {
        guard self.problem == nil else { return }
        let bytes = piece.bytes
        if self.endsWithBytes { for case .trailers(let fields) in piece.events ?? [] { self.trailers = fields } }
        self.memory.writeImmutableBuffer(bytes)
        self.times.add(bytes.readableBytes, at: at)
        if self.memory.readableBytes > Self.memoryLimit { self.write() }
    }

    /// The disk is behind: nothing more should be read until `whenReady` calls back.
    var isFull: Bool { self.isWriting && self.memory.readableBytes > Self.memoryLimit }

    /// Calls back once all bytes so far are stored; immediately if they are in memory.
    func whenReady(_ then: @escaping () -> Void) {
        guard self.isWriting else { return then() }
        self.whenWritten = then
    }

    private func write() {
        guard !self.isWriting else { return }
        self.isWriting = true
        let block = self.memory
        let offset = self.fileSize
        let file = self.file
        self.fileSize += block.readableBytes
        self.memory = ByteBuffer()
        let writing = self.disk.run(on: self.loop) {
            let file = try file ?? UnnamedFile()
            try block.withUnsafeReadableBytes { try file.write($0, at: offset) }
            return file
        }
        writing.assumeIsolated().whenComplete { result in
            self.isWriting = false
            switch result {
            case .success(let file): self.file = file
            case .failure(let error): self.lose(error)
            }
            if self.memory.readableBytes > Self.memoryLimit { return self.write() }
            self.whenWritten.take()?()
        }
    }

    private func lose(_ error: any Error) {
        self.problem = error as? CassetteError ?? CassetteError(.unreadable, "the proxy is being stopped")
        self.memory = ByteBuffer()
        self.file = nil
    }

    // MARK: Reading

    /// The next bytes in order, or an empty list at the end. Must not be called again before it has called back.
    func next(_ then: @escaping (Result<[Piece], CassetteError>) -> Void) {
        if let problem { return then(.failure(problem)) }
        guard let file, self.readOffset < self.fileSize else {
            let bytes = self.memory.readSlice(length: min(Self.pieceSize, self.memory.readableBytes)) ?? ByteBuffer()
            return then(self.pieces(of: bytes))
        }
        let range = self.readOffset..<min(self.readOffset + Self.pieceSize, self.fileSize)
        self.readOffset = range.upperBound
        let reading = self.disk.run(on: self.loop) { ByteBuffer(bytes: try file.read(range)) }
        reading.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let bytes):
                then(self.pieces(of: bytes))
            case .failure(let error):
                self.lose(error)
                then(.failure(self.problem ?? CassetteError(.unreadable, "\(error)", cause: error)))
            }
        }
    }

    private func pieces(of bytes: ByteBuffer) -> Result<[Piece], CassetteError> {
        var bytes = bytes
        var pieces: [Piece] = []
        while let (count, at) = self.times.take(atMost: bytes.readableBytes), let piece = bytes.readSlice(length: count) {
            var events: [BodyEvent]? = self.isChunked ? [] : nil
            do throws(MessageError) {
                let progress = try piece.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                    try self.parser.consume(bytes) { events?.append($0) }
                }
                pieces.append(Piece(body: BodyPiece(bytes: piece, events: events, isLast: progress.isDone), at: at))
            } catch {
                // These bytes were parsed successfully before. They fail now only if something changed the file.
                return .failure(CassetteError(.unreadable, error.message, cause: error))
            }
        }
        if self.endsWithBytes, !self.isPartial, !self.isEndRead, self.readOffset >= self.fileSize, self.memory.readableBytes == 0 {
            self.isEndRead = true
            if pieces.isEmpty { pieces.append(Piece(body: BodyPiece(bytes: ByteBuffer()), at: 0)) }
            let last = pieces.count - 1
            pieces[last].body.isLast = true
            if let trailers { pieces[last].body.events = [.data(0..<pieces[last].body.bytes.readableBytes), .trailers(trailers)] }
        }
        return .success(pieces)
    }
}

/// The arrival times of a stream's bytes, in milliseconds, in a list of bounded length.
///
/// Holds no bytes. Times are removed in the order in which they were added.
struct ReadTimes {
    /// The number of pieces of a body that a cassette keeps.
    static let limit = Arrival.pieceLimit
    /// Reads closer together than this many milliseconds count as one.
    static let burst = 2.0

    private struct Read {
        var at: Double
        var count: Int
    }

    private var reads: [Read] = []
    private var first = 0

    mutating func add(_ count: Int, at: Double) {
        guard count > 0 else { return }
        if let last = self.reads.last, at - last.at < Self.burst || self.reads.count >= Self.limit {
            self.reads[self.reads.count - 1].count += count
        } else {
            self.reads.append(Read(at: at, count: count))
        }
    }

    /// The count and time of the next bytes that arrived together, at most `limit` bytes; nil if none are left.
    mutating func take(atMost limit: Int) -> (count: Int, at: Double)? {
        guard self.first < self.reads.count, limit > 0 else { return nil }
        let read = self.reads[self.first]
        let count = min(read.count, limit)
        self.reads[self.first].count -= count
        if count == read.count { self.first += 1 }
        return (count, read.at)
    }
}
