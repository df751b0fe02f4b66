package import CassetteModel
package import CassetteStore
internal import Dispatch
internal import TapeBytes
package import TapeExchange

/// The bounded queue between connections and the recorder thread.
///
/// `put` never blocks and, until the recorder has ended, never drops: it reports a full queue, and the caller stops reading from the
/// network until it has drained. Waking a thread costs more than writing a small exchange, so a busy recorder naps for a few milliseconds
/// between batches, and only weight, work for some milliseconds or an exchange with a waiting caller wakes it early.
final class RecorderQueue: Sendable {
    /// Bytes in the queue, those being written included, at which it is full: 8 MiB, about 5,000 exchanges of 1 KiB or an eighth of a
    /// second of a fast disk. Blocks may keep twice their bytes in memory.
    static let highWater = 8 << 20
    /// Bytes at which it has drained, if it was full by its bytes.
    static let lowWater = 4 << 20
    /// Nanoseconds of the consumer's work, at its pace so far, at which the queue is full: what waits is lost if the process is killed, so a
    /// slow recorder slows the traffic. Unlike the age of what waits, it falls with each portion that is done, so that connections wait
    /// for little at a time.
    static let maxBacklog: UInt64 = 40_000_000
    /// Nanoseconds of it at which it has drained: soon, since all that time no connection is read.
    static let lowBacklog: UInt64 = 36_000_000
    /// What is queued, as bytes and as nanoseconds of work, at which a conversation's messages wait, and what is left of it when they go on.
    /// Half of what the queue holds is left to exchanges: a conversation of many small messages fills any room at once.
    static let (busyWeight, calmWeight) = (highWater / 2, lowWater / 2)
    static let (busyBacklog, calmBacklog): (UInt64, UInt64) = (maxBacklog / 2, lowBacklog / 2)
    /// Nanoseconds after which an exchange is late and the queue full, for a consumer that has come to a halt.
    static let maxLatency: UInt64 = 80_000_000
    /// How much of the consumer's pace the last portion makes.
    private static let paceWeight = 0.25
    /// Bytes that end a nap, or need none.
    private static let napWeight = 1 << 20
    /// Nanoseconds of the consumer's work that do the same: it would not catch up in time, while connections wait.
    static let napBacklog: UInt64 = 4_000_000

    private enum Consumer { case running, napping, sleeping }

    struct Entry {
        var item: RecorderItem
        /// Nanoseconds of the clock when it was put.
        var put: UInt64
    }

    /// What was taken at once.
    struct Batch {
        var entries: [Entry]
        var weight: Int
        /// Nothing comes after it.
        var isClosed: Bool

        /// The entry that `oldestExchange` found last.
        private var oldest = 0

        init(entries: [Entry], weight: Int, isClosed: Bool) {
            self.entries = entries
            self.weight = weight
            self.isClosed = isClosed
        }

        /// When the oldest exchange was put whose item is this one or a later one; nil without any. Asked in ascending order, so that it
        /// looks at each entry once.
        mutating func oldestExchange(from index: Int) -> UInt64? {
            self.oldest = max(self.oldest, index)
            while self.oldest < self.entries.count, !self.entries[self.oldest].item.isAcknowledged { self.oldest += 1 }
            return self.oldest < self.entries.count ? self.entries[self.oldest].put : nil
        }
    }

    private struct State {
        var entries: [Entry] = []
        /// Bytes of queued items and of the batch being written.
        var weight = 0
        var queuedWeight = 0
        var consumer = Consumer.running
        var isClosed = false
        /// Closed, empty, and the consumer knows it: items that are put now are refused.
        var isOver = false
        var isFull = false
        /// It is full by its bytes, whatever else it is.
        var isOverweight = false
        /// A conversation waits until the queue is calm.
        var hasWaitingConversation = false
        /// The consumer can take no more, whatever the queue's weight.
        var isHeld = false
        /// The consumer has work that is not in the queue.
        var isNudged = false
        /// When the oldest of the queued exchanges was put, and the oldest of the batch being written; nil without any.
        var queuedSince: UInt64?
        var writingSince: UInt64?
        /// Nanoseconds for each byte of weight; 0 before anything is done.
        var pace = 0.0

        func isBehind(by nanoseconds: UInt64) -> Bool { Double(self.weight) * self.pace > Double(nanoseconds) }

        /// Whether what is queued is worth a batch.
        var hasBatch: Bool {
            guard self.queuedWeight > 0 else { return false }
            return self.queuedWeight >= RecorderQueue.napWeight || Double(self.queuedWeight) * self.pace >= Double(RecorderQueue.napBacklog)
                || self.isFull
        }

        func isLate(_ now: UInt64) -> Bool {
            guard let oldest = self.writingSince ?? self.queuedSince else { return false }
            return now > oldest && now - oldest > RecorderQueue.maxLatency
        }
    }

    private let state = Guarded(State())
    private let wake = DispatchSemaphore(value: 0)
    private let refused: @Sendable (RecorderItem) -> Void

    /// - Parameter refused: called with items that are put after the consumer has ended.
    init(refused: @escaping @Sendable (RecorderItem) -> Void) { self.refused = refused }

    /// - Parameter now: nanoseconds of a monotonic clock.
    /// - Returns: whether the queue is full now, by its bytes, by the work in them or by age.
    func put(_ item: RecorderItem, now: UInt64) -> Bool {
        let weight = item.weight
        let put = self.state.withLock { state -> (isFull: Bool, wakes: Bool)? in
            guard !state.isOver else { return nil }
            state.entries.append(Entry(item: item, put: now))
            state.weight += weight
            state.queuedWeight += weight
            if item.isAcknowledged, state.queuedSince == nil { state.queuedSince = now }
            if state.weight >= Self.highWater { state.isOverweight = true }
            if state.isOverweight || state.isHeld || state.isBehind(by: Self.maxBacklog) || state.isLate(now) { state.isFull = true }
            let wakes: Bool
            switch state.consumer {
            case .running: wakes = false
            case .napping: wakes = item.isUrgent || state.hasBatch
            case .sleeping: wakes = true
            }
            if wakes { state.consumer = .running }
            return (state.isFull, wakes)
        }
        guard let put else {
            self.refused(item)
            return false
        }
        if put.wakes { self.wake.signal() }
        return put.isFull
    }

    var isFull: Bool { self.state.withLock { $0.isFull } }

    /// Whether messages of conversations have to wait. If so, `done` reports a drain once they may go on.
    func isBusy() -> Bool {
        self.state.withLock { state in
            let isBusy = state.isFull || state.weight >= Self.busyWeight || state.isBehind(by: Self.busyBacklog)
            if isBusy { state.hasWaitingConversation = true }
            return isBusy
        }
    }

    var isEmpty: Bool { self.state.withLock { $0.entries.isEmpty } }

    func close() {
        let wakes = self.state.withLock { state -> Bool in
            state.isClosed = true
            defer { state.consumer = .running }
            return state.consumer != .running
        }
        if wakes { self.wake.signal() }
    }

    /// All queued items; the consumer calls `done` as it goes. It ends when a closed queue is empty.
    func take() -> Batch {
        self.state.withLock { state in
            var entries: [Entry] = []
            swap(&entries, &state.entries)
            let weight = state.queuedWeight
            state.queuedWeight = 0
            state.writingSince = state.queuedSince
            state.queuedSince = nil
            state.isOver = state.isClosed && entries.isEmpty
            return Batch(entries: entries, weight: weight, isClosed: state.isClosed)
        }
    }

    /// Declares the queue full whatever its weight, or ends that.
    func hold(_ isHeld: Bool) { self.state.withLock { $0.isHeld = isHeld } }

    /// Ends the consumer's rest, or its next one if it is busy.
    func nudge() {
        let wakes = self.state.withLock { state -> Bool in
            guard state.consumer != .running else {
                state.isNudged = true
                return false
            }
            state.consumer = .running
            return true
        }
        if wakes { self.wake.signal() }
    }

    /// So many bytes of the batch are done.
    ///
    /// - Parameters:
    ///   - took: nanoseconds that they took; nil if that says nothing of others.
    ///   - oldest: when the oldest exchange of what is left of the batch was put; nil without any.
    /// - Returns: whether the queue was full, or too busy for a conversation, and has now drained, so that sockets may be read again.
    func done(_ weight: Int, took: UInt64? = nil, oldest: UInt64? = nil, now: UInt64) -> Bool {
        self.state.withLock { state in
            state.weight -= weight
            state.writingSince = oldest
            if let took, weight > 0 {
                let pace = Double(took) / Double(weight)
                state.pace = state.pace == 0 ? pace : state.pace + (pace - state.pace) * Self.paceWeight
            }
            if state.weight <= Self.lowWater { state.isOverweight = false }
            if state.isFull {
                guard !state.isHeld, !state.isOverweight, !state.isBehind(by: Self.lowBacklog), !state.isLate(now) else { return false }
                state.isFull = false
                return true
            }
            guard state.hasWaitingConversation, state.weight <= Self.calmWeight, !state.isBehind(by: Self.calmBacklog) else { return false }
            state.hasWaitingConversation = false
            return true
        }
    }

    /// Waits for work, at most so many milliseconds; nil waits until something is put.
    func rest(milliseconds: Int?) {
        let rests = self.state.withLock { state -> Bool in
            guard !state.isNudged else {
                state.isNudged = false
                return false
            }
            guard state.entries.isEmpty || milliseconds != nil, !state.isClosed else { return false }
            guard !state.hasBatch, !state.entries.contains(where: \.item.isUrgent) else { return false }
            state.consumer = milliseconds == nil ? .sleeping : .napping
            return true
        }
        guard rests else { return }
        if let milliseconds {
            let timedOut = self.wake.wait(timeout: .now() + .milliseconds(milliseconds)) == .timedOut
            guard timedOut else { return }
            let wasWoken = self.state.withLock { state -> Bool in
                defer { state.consumer = .running }
                return state.consumer == .running
            }
            // Signalled between the time-out and here: consume the signal, or it would end the next rest.
            if wasWoken { self.wake.wait() }
        } else {
            self.wake.wait()
        }
    }
}

/// Bytes that stay as they are for as long as somebody holds them.
package protocol HeldBytes: Sendable {
    var heldCount: Int { get }

    func withHeldBytes(_ body: (UnsafeRawBufferPointer) throws(CassetteError) -> Void) throws(CassetteError)
}

extension [UInt8]: HeldBytes {
    package var heldCount: Int { self.count }

    package func withHeldBytes(_ body: (UnsafeRawBufferPointer) throws(CassetteError) -> Void) throws(CassetteError) {
        try self.withUnsafeBufferPointer { bytes throws(CassetteError) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

/// An item for the recorder thread. Small, since it is moved several times: whole interactions are behind a reference.
package enum RecorderItem: Sendable {
    /// The result of one exchange: success once it is synced to the disk. Called on the recorder thread, or inside `put` if the recorder
    /// has ended.
    ///
    /// After a failure, a recorder that `refusesUnrecorded` has discarded the exchange, and it is never in the cassette; any other may hold
    /// it and write it later, since its answer is sent in any case.
    package typealias Stored = @Sendable (Result<Void, RecorderProblem>) -> Void

    /// A block of a body that is too large to be kept until its end.
    case block(exchange: Int, side: Tap.Side, bytes: any HeldBytes)
    /// An exchange of which nothing is recorded, after blocks of it were put: its file and its descriptor are given back.
    case dropped(exchange: Int)
    /// An exchange that has ended. With `stored`, its caller waits for the result.
    case exchange(TapedExchange, stored: Stored?)
    /// An exchange that has become a conversation: both heads are known, and messages will follow.
    indirect case opened(Interaction, ConversationForm)
    /// A message of an open conversation, in the order in which they came.
    case message(exchange: Int, any ConversationMessage)
    /// A conversation that has ended: its interaction as it is by now, without messages.
    indirect case closed(Interaction, stored: Stored?)

    /// What is left of one that was moved away.
    static let nothing = RecorderItem.block(exchange: 0, side: .request, bytes: [UInt8]())

    /// The heads of an exchange and what keeps them together; an estimate.
    private static let headWeight = 1024

    var weight: Int {
        switch self {
        case .block(_, _, let bytes): bytes.heldCount
        case .exchange(let exchange, _): exchange.weight
        case .message(_, let message): message.weight
        case .opened, .closed, .dropped: Self.headWeight
        }
    }

    /// Whether it ends an exchange: its client has the answer.
    var isAcknowledged: Bool {
        switch self {
        case .exchange, .closed: true
        case .block, .opened, .message, .dropped: false
        }
    }

    /// Whether its caller waits for the result.
    var isUrgent: Bool {
        switch self {
        case .exchange(_, stored: .some), .closed(_, stored: .some): true
        case .exchange, .closed, .block, .opened, .message, .dropped: false
        }
    }
}
