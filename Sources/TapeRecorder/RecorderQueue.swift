internal import Dispatch
internal import TapeBytes

/// The bounded queue between those who exchange and the recorder thread.
///
/// Putting never blocks and, until the recorder has ended, never drops: it tells when the queue is full, and whoever puts then stops
/// reading from the network until the queue has drained. Waking a thread costs more than writing a small exchange, so a recorder that is busy naps for a few
/// milliseconds between batches and is woken early only by weight or by somebody who waits.
final class RecorderQueue: Sendable {
    /// Octets in the queue, those being written included, at which sockets are no longer read: 8 MiB, some 5,000 exchanges of
    /// 1 KiB or an eighth of a second of a fast disk.
    static let highWater = 8 << 20
    /// Octets at which reading goes on.
    static let lowWater = 4 << 20
    /// Nanoseconds after which an exchange is late: what was acknowledged a tenth of a second ago is promised to be in the file, so
    /// that a recorder that cannot keep up holds up the traffic before.
    static let patience: UInt64 = 40_000_000
    /// Octets that end a nap.
    private static let napWeight = 1 << 20

    private enum Consumer { case running, napping, sleeping }

    private struct State {
        var items: [RecorderItem] = []
        /// Of queued items and of the batch being written.
        var weight = 0
        var queuedWeight = 0
        var consumer = Consumer.running
        var isClosed = false
        /// The consumer knows that nothing comes any more.
        var isOver = false
        var isFull = false
        /// The consumer has as much as it can take, whatever is in the queue.
        var isHeld = false
        /// There is something to do for the consumer that is not in the queue.
        var isNudged = false
        /// When the oldest of the queued exchanges was put, and the oldest of the batch being written; nil without any.
        var queuedSince: UInt64?
        var writingSince: UInt64?

        func isLate(_ now: UInt64) -> Bool {
            guard let oldest = self.writingSince ?? self.queuedSince else { return false }
            return now > oldest && now - oldest > RecorderQueue.patience
        }
    }

    private let state = Guarded(State())
    private let wake = DispatchSemaphore(value: 0)
    private let refused: @Sendable (RecorderItem) -> Void

    /// - Parameter refused: called with what is put when nobody takes anything any more.
    init(refused: @escaping @Sendable (RecorderItem) -> Void) { self.refused = refused }

    /// - Parameter now: nanoseconds of a clock that never goes back.
    /// - Returns: whether the queue is full now, by weight or by age.
    func put(_ item: RecorderItem, now: UInt64) -> Bool {
        let weight = item.weight
        let put = self.state.withLock { state -> (isFull: Bool, wakes: Bool)? in
            guard !state.isOver else { return nil }
            state.items.append(item)
            state.weight += weight
            state.queuedWeight += weight
            if item.isAcknowledged, state.queuedSince == nil { state.queuedSince = now }
            if state.weight >= Self.highWater || state.isHeld || state.isLate(now) { state.isFull = true }
            let wakes: Bool
            switch state.consumer {
            case .running: wakes = false
            case .napping: wakes = item.isUrgent || state.queuedWeight >= Self.napWeight
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

    func close() {
        let wakes = self.state.withLock { state -> Bool in
            state.isClosed = true
            defer { state.consumer = .running }
            return state.consumer != .running
        }
        if wakes { self.wake.signal() }
    }

    /// Everything queued, with its weight; the consumer calls `done` when it is written. It ends when there is nothing in a closed queue.
    func take() -> (items: [RecorderItem], weight: Int, isClosed: Bool) {
        self.state.withLock { state in
            var items: [RecorderItem] = []
            swap(&items, &state.items)
            let weight = state.queuedWeight
            state.queuedWeight = 0
            state.writingSince = state.queuedSince
            state.queuedSince = nil
            state.isOver = state.isClosed && items.isEmpty
            return (items, weight, state.isClosed)
        }
    }

    /// Says that the queue is full from now on, or no more.
    func hold(_ isHeld: Bool) { self.state.withLock { $0.isHeld = isHeld } }

    /// Ends the consumer's rest, or the next one where it is busy.
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

    /// - Returns: whether the queue was full and has now drained, so that sockets may be read again.
    func done(_ weight: Int, now: UInt64) -> Bool {
        self.state.withLock { state in
            state.weight -= weight
            state.writingSince = nil
            guard state.isFull, !state.isHeld, state.weight <= Self.lowWater, !state.isLate(now) else { return false }
            state.isFull = false
            return true
        }
    }

    /// Waits for something to do, at most so many milliseconds; nil waits until something is put.
    func rest(milliseconds: Int?) {
        let rests = self.state.withLock { state -> Bool in
            guard !state.isNudged else {
                state.isNudged = false
                return false
            }
            guard state.items.isEmpty || milliseconds != nil, !state.isClosed else { return false }
            guard !state.items.contains(where: \.isUrgent) else { return false }
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
            // Somebody signalled between the time-out and here: take that signal, or it would end the next rest.
            if wasWoken { self.wake.wait() }
        } else {
            self.wake.wait()
        }
    }
}
