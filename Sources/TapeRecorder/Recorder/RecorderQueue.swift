package import CassetteModel
package import CassetteStore
internal import Dispatch
internal import TapeBytes
package import TapeExchange

/// The bounded queue between connections and the recorder thread.
///
/// `put` never blocks and, until the recorder has ended, never drops items: it reports a full queue, and the caller stops reading from the
/// network until the queue has drained. Waking a thread costs more than writing a small exchange, so a busy recorder naps for a few
/// milliseconds between batches. Only weight, work for some milliseconds or an exchange with a waiting caller wakes it early.
final class RecorderQueue: Sendable {
    /// Bytes at which the queue is full, including those being written: 8 MiB, which is about 5,000 exchanges of 1 KiB or an eighth of a
    /// second of a fast disk. Blocks may take twice their size in memory.
    static let highWater = 8 << 20
    /// Bytes at which the queue has drained, if it was full by its bytes.
    static let lowWater = 4 << 20
    /// The queue is full if it holds this many nanoseconds of work, at the consumer's recent speed. Queued items are lost if the process is
    /// killed, so a slow recorder slows the traffic. Unlike the age of queued items, this falls with each finished portion, so that
    /// connections wait only briefly.
    static let maxBacklog: UInt64 = 40_000_000
    /// Nanoseconds of work at which the queue has drained. Close to the maximum, because no connection is read in the meantime.
    static let lowBacklog: UInt64 = 36_000_000
    /// Limits, in bytes and nanoseconds of work, at which a conversation's messages wait, and at which they continue. Half of the queue is
    /// reserved for exchanges, because a conversation of many small messages fills any space at once.
    static let (busyWeight, calmWeight) = (highWater / 2, lowWater / 2)
    static let (busyBacklog, calmBacklog): (UInt64, UInt64) = (maxBacklog / 2, lowBacklog / 2)
    /// Nanoseconds after which an exchange is late and the queue counts as full, in case the consumer has stalled.
    static let maxLatency: UInt64 = 80_000_000
    /// Weight of the most recent portion in the moving average of the consumer's speed.
    private static let paceWeight = 0.25
    /// If at least this many bytes are queued, the consumer ends or skips its nap.
    private static let napWeight = 1 << 20
    /// The same in nanoseconds of work: with more, the consumer would not catch up in time while connections wait.
    static let napBacklog: UInt64 = 4_000_000

    private enum Consumer { case running, napping, sleeping }

    struct Entry {
        var item: RecorderItem
        /// The clock's nanoseconds when it was put.
        var put: UInt64
    }

    /// The items taken at once.
    struct Batch {
        var entries: [Entry]
        var weight: Int
        /// Nothing follows it.
        var isClosed: Bool

        /// The entry that `oldestExchange` found last.
        private var oldest = 0

        init(entries: [Entry], weight: Int, isClosed: Bool) {
            self.entries = entries
            self.weight = weight
            self.isClosed = isClosed
        }

        /// When the oldest exchange at or after this index was put; nil if there is none. Call with ascending indices, so that each entry
        /// is looked at once.
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
        /// Closed, empty, and known to the consumer. Any further items are refused.
        var isOver = false
        var isFull = false
        /// Full by its bytes, whatever else makes it full.
        var isOverweight = false
        /// A conversation waits until the queue is calm.
        var hasWaitingConversation = false
        /// The consumer cannot take more, whatever the queue's weight.
        var isHeld = false
        /// The consumer has work that is not in the queue.
        var isNudged = false
        /// When the oldest queued exchange and the oldest in the batch being written were put; nil if there is none.
        var queuedSince: UInt64?
        var writingSince: UInt64?
        /// Nanoseconds per byte of weight; 0 before anything is done.
        var pace = 0.0

        func isBehind(by nanoseconds: UInt64) -> Bool { Double(self.weight) * self.pace > Double(nanoseconds) }

        /// Whether the queued items are worth a batch.
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

    /// Whether messages of conversations have to wait. If so, `done` reports a drain once they may continue.
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

    /// Takes all queued items. The consumer calls `done` as it proceeds, and ends when a closed queue is empty.
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

    /// Ends the consumer's rest or, if it is busy, skips its next one.
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

    /// This many bytes of the batch are done.
    ///
    /// - Parameters:
    ///   - took: how many nanoseconds they took; nil if that is not representative.
    ///   - oldest: when the oldest remaining exchange of the batch was put; nil if there is none.
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

    /// Waits for work for at most this many milliseconds; nil waits until something is put.
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
            // Signalled between the timeout and this point: consume the signal, or it would end the next rest.
            if wasWoken { self.wake.wait() }
        } else {
            self.wake.wait()
        }
    }
}

/// Bytes that stay unchanged for as long as something holds them.
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

/// An item for the recorder thread. Kept small by holding whole interactions by reference, because it is moved several times.
package enum RecorderItem: Sendable {
    /// The result of one exchange: success once it is synced to the disk. Called on the recorder thread, or inside `put` if the recorder
    /// has ended.
    ///
    /// After a failure, a recorder with `refusesUnrecorded` has discarded the exchange, which will never be in the cassette. Any other
    /// recorder may keep it and write it later, because its answer is sent in any case.
    package typealias Stored = @Sendable (Result<Void, RecorderProblem>) -> Void

    /// A block of a body that is too large to be kept until its end.
    case block(exchange: Int, side: Tap.Side, bytes: any HeldBytes)
    /// An exchange that is not recorded after all, although blocks of it were put. Its file and descriptor are released.
    case dropped(exchange: Int)
    /// An exchange that has ended. With `stored`, its caller waits for the result.
    case exchange(TapedExchange, stored: Stored?)
    /// An exchange that has become a conversation: both heads are known, and messages will follow.
    indirect case opened(Interaction, ConversationForm)
    /// A message of an open conversation, in the order of arrival.
    case message(exchange: Int, any ConversationMessage)
    /// A conversation that has ended: its final interaction, without messages.
    indirect case closed(Interaction, stored: Stored?)

    /// Left behind when an item is moved out.
    static let nothing = RecorderItem.block(exchange: 0, side: .request, bytes: [UInt8]())

    /// An estimate of the size of an exchange's heads and structures.
    private static let headWeight = 1024

    var weight: Int {
        switch self {
        case .block(_, _, let bytes): bytes.heldCount
        case .exchange(let exchange, _): exchange.weight
        case .message(_, let message): message.weight
        case .opened, .closed, .dropped: Self.headWeight
        }
    }

    /// Whether it ends an exchange, so that its client has the answer.
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
