internal import Foundation
internal import TapeBytes

/// Passes the chunks of a response to each of its readers.
///
/// Before there is a reader, chunks are kept for the first one.
final class StreamHub: Sendable {
    enum Take: Sendable {
        case chunk(Data)
        case wait
        case end(WiretapeError?)
    }

    private struct State {
        var backlog: StreamBuffer? = StreamBuffer()
        var readers: [Int: Reader] = [:]
        var count = 0
        var hasPassed = false
        var end: WiretapeError??

        mutating func drop() {
            if self.backlog != nil { self.backlog = StreamBuffer() }
            for id in self.readers.keys { self.readers[id]?.buffer = StreamBuffer() }
        }
    }

    /// One reader of a stream: a sequence that waits, or a handler that is called.
    private struct Reader: Sendable {
        var buffer: StreamBuffer
        /// The sequence, while it waits.
        var waiter: CheckedContinuation<Data?, any Error>?
        /// The handler. It takes all available chunks, one after the other.
        var pump: (@Sendable () -> Void)?
        var isPumping = false
        /// The handler has been called with the end.
        var isDone = false
    }

    private let state = Guarded(State())

    /// Whether the buffer of some reader is full.
    var isFull: Bool {
        self.state.withLock { state in state.backlog?.isFull ?? state.readers.values.contains { $0.buffer.isFull } }
    }

    // MARK: Transport

    func push(_ chunk: Data) {
        let (waiters, pumps) = self.state.withLock { state in
            guard state.backlog == nil else {
                state.backlog?.push(chunk)
                return ([CheckedContinuation<Data?, any Error>](), [@Sendable () -> Void]())
            }
            state.hasPassed = true
            var waiters: [CheckedContinuation<Data?, any Error>] = []
            for id in state.readers.keys {
                if let waiter = state.readers[id]?.waiter {
                    waiters.append(waiter)
                    state.readers[id]?.waiter = nil
                } else {
                    state.readers[id]?.buffer.push(chunk)
                }
            }
            return (waiters, Self.pumps(&state))
        }
        for waiter in waiters { waiter.resume(returning: chunk) }
        for pump in pumps { pump() }
    }

    func finish(_ error: WiretapeError?) {
        let (waiters, pumps) = self.state.withLock { state in
            guard state.end == nil else { return ([CheckedContinuation<Data?, any Error>](), [@Sendable () -> Void]()) }
            state.end = .some(error)
            // After a cancellation, unread chunks are dropped.
            if error?.isCancelled == true { state.drop() }
            var waiters: [CheckedContinuation<Data?, any Error>] = []
            for id in state.readers.keys {
                if let waiter = state.readers[id]?.waiter { waiters.append(waiter) }
                state.readers[id]?.waiter = nil
            }
            return (waiters, Self.pumps(&state))
        }
        for waiter in waiters {
            if let error { waiter.resume(throwing: error) } else { waiter.resume(returning: nil) }
        }
        for pump in pumps { pump() }
    }

    /// The handlers that have something to take and are not running.
    private static func pumps(_ state: inout State) -> [@Sendable () -> Void] {
        var pumps: [@Sendable () -> Void] = []
        for (id, reader) in state.readers {
            guard let pump = reader.pump, !reader.isPumping, !reader.isDone, !reader.buffer.isEmpty || state.end != nil else { continue }
            state.readers[id]?.isPumping = true
            pumps.append(pump)
        }
        return pumps
    }

    // MARK: Readers

    /// - Throws: if other readers have already received chunks.
    func join() throws -> Int {
        try self.state.withLock { state in
            guard !state.hasPassed else { throw Self.tooLate }
            return Self.join(&state, pump: nil)
        }
    }

    /// - Parameter pump: called when `take` has something to return, and not again before `pumped`.
    func join(_ pump: @escaping @Sendable (_ reader: Int) -> Void) {
        let pumps = self.state.withLock { state in
            let id = state.count
            _ = Self.join(&state) { pump(id) }
            return Self.pumps(&state)
        }
        for pump in pumps { pump() }
    }

    private static func join(_ state: inout State, pump: (@Sendable () -> Void)?) -> Int {
        let id = state.count
        state.count += 1
        state.readers[id] = Reader(buffer: state.backlog ?? StreamBuffer(), pump: pump)
        if state.backlog?.isEmpty == false { state.hasPassed = true }
        state.backlog = nil
        return id
    }

    /// - Returns: how many readers are left.
    func leave(_ reader: Int) -> Int {
        self.state.withLock { state in
            state.readers[reader] = nil
            return state.readers.count
        }
    }

    func take(_ reader: Int) -> Take { self.state.withLock { Self.take(reader, &$0) } }

    private static func take(_ reader: Int, _ state: inout State) -> Take {
        if let chunk = state.readers[reader]?.buffer.take() { return .chunk(chunk) }
        guard let end = state.end else { return .wait }
        return .end(end)
    }

    /// Resumes the waiter with the next chunk, nil at the end, or the error.
    func wait(_ reader: Int, _ waiter: CheckedContinuation<Data?, any Error>) {
        let take = self.state.withLock { state -> Take in
            let take = Self.take(reader, &state)
            if case .wait = take { state.readers[reader]?.waiter = waiter }
            return take
        }
        switch take {
        case .wait: break
        case .chunk(let chunk): waiter.resume(returning: chunk)
        case .end(let error):
            if let error { waiter.resume(throwing: error) } else { waiter.resume(returning: nil) }
        }
    }

    /// The handler has taken all available chunks.
    func pumped(_ reader: Int, isDone: Bool) {
        let pumps = self.state.withLock { state in
            state.readers[reader]?.isPumping = false
            if isDone { state.readers[reader]?.isDone = true }
            return Self.pumps(&state)
        }
        for pump in pumps { pump() }
    }

    private static var tooLate: WiretapeError {
        WiretapeError(
            .stream,
            "another reader has already received bytes of the response: start all sequences before the first byte, or send a second request"
        )
    }
}

/// The chunks that one reader of a stream has not taken yet.
///
/// Knows neither the reader nor a lock.
struct StreamBuffer: Sendable {
    /// At this many bytes the transport is paused: the size of four usual socket buffers. It is resumed below half of that.
    static let limit = 256 << 10

    private var chunks: [Data] = []
    private var first = 0
    private(set) var size = 0
    private(set) var isFull = false

    var isEmpty: Bool { self.first == self.chunks.count }

    mutating func push(_ chunk: Data) {
        self.chunks.append(chunk)
        self.size += chunk.count
        if self.size >= Self.limit { self.isFull = true }
    }

    /// The oldest chunk, as received; nil if there is none.
    mutating func take() -> Data? {
        guard !self.isEmpty else { return nil }
        let chunk = self.chunks[self.first]
        self.chunks[self.first] = Data()
        self.first += 1
        self.size -= chunk.count
        if self.size < Self.limit / 2 { self.isFull = false }
        if self.isEmpty {
            self.chunks.removeAll(keepingCapacity: true)
            self.first = 0
        }
        return chunk
    }
}
