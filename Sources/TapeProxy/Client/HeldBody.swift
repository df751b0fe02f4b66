internal import NIOCore
internal import TapeCore

/// The octets of a request's body that came before it was known whether they go to an origin: framing included, with their times.
///
/// Up to a limit in memory, beyond it in a file without a name, which is written and read on threads that may wait for the disk. Does
/// not know where the body ends. Not Sendable: lives on its event loop.
final class HeldBody {
    /// Octets held in memory: nearly every JSON text and form is smaller, and 1,000 clients at once hold 1 GiB at most.
    static let memoryLimit = 1 << 20
    /// Octets given back at once.
    static let pieceSize = 256 << 10

    struct Piece {
        var octets: ByteBuffer
        /// Milliseconds since the request's start.
        var at: Double
    }

    private let loop: any EventLoop
    private let disk: DiskPool
    /// Behind what is in the file.
    private var memory = ByteBuffer()
    private var file: UnnamedFile?
    /// Octets given to the file; those being written are among them.
    private var fileSize = 0
    private var readOffset = 0
    private var times = ReadTimes()
    private var isWriting = false
    private var whenWritten: (() -> Void)?
    /// Why it is lost.
    private(set) var problem: CassetteError?

    init(loop: any EventLoop, disk: DiskPool) {
        self.loop = loop
        self.disk = disk
    }

    // MARK: Taking

    func append(_ octets: ByteBuffer, at: Double) {
        guard self.problem == nil else { return }
        self.memory.writeImmutableBuffer(octets)
        self.times.add(octets.readableBytes, at: at)
        if self.memory.readableBytes > Self.memoryLimit { self.write() }
    }

    /// More has come than the disk has taken: read on when `whenReady` calls back.
    var isFull: Bool { self.isWriting && self.memory.readableBytes > Self.memoryLimit }

    /// Calls back once what came so far is in its place: at once where that is the memory.
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

    // MARK: Giving back

    /// The next octets in the order in which they came, or none at the end; call again only after the call back.
    func next(_ then: @escaping (Result<[Piece], CassetteError>) -> Void) {
        if let problem { return then(.failure(problem)) }
        guard let file, self.readOffset < self.fileSize else {
            let octets = self.memory.readSlice(length: min(Self.pieceSize, self.memory.readableBytes)) ?? ByteBuffer()
            return then(.success(self.pieces(of: octets)))
        }
        let range = self.readOffset..<min(self.readOffset + Self.pieceSize, self.fileSize)
        self.readOffset = range.upperBound
        let reading = self.disk.run(on: self.loop) { ByteBuffer(bytes: try file.read(range)) }
        reading.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let octets):
                then(.success(self.pieces(of: octets)))
            case .failure(let error):
                self.lose(error)
                then(.failure(self.problem ?? CassetteError(.unreadable, "\(error)")))
            }
        }
    }

    private func pieces(of octets: ByteBuffer) -> [Piece] {
        var octets = octets
        var pieces: [Piece] = []
        while let (count, at) = self.times.take(atMost: octets.readableBytes), let piece = octets.readSlice(length: count) {
            pieces.append(Piece(octets: piece, at: at))
        }
        return pieces
    }
}
