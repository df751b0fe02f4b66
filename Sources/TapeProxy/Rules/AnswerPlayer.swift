internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TrafficRules

/// Sends the items of an answer to a client stream in order, after a latency and no faster than some rates.
///
/// Not Sendable: lives on its event loop.
final class AnswerPlayer {
    /// Bytes that may wait before the exchange that makes the answer has to pause.
    private static let highWater = 64 << 10

    private let client: any ClientStream
    private let latency: TimeAmount
    private let buckets: [TokenBucket]
    private var queue = CircularBuffer<AnswerItem>()
    private var queuedSize = 0
    private var latencyIsOver: Bool
    private var timer: Scheduled<Void>?
    private var isPlaying = false
    /// Something has changed while items were being sent.
    private var wantsMore = false
    private var framing = BodyFraming.none
    private(set) var isOver = false
    /// Bytes go to the client as they are, without the framing of a body.
    var isTunnel = false
    /// The rest of the answer never comes: the client waits until it leaves.
    private(set) var isStalledForever = false
    /// Called when there is room again after `isFull`.
    var drained: () -> Void = {}
    /// Called when nothing goes on from now, for a time or ever.
    var stalled: (Duration?) -> Void = { _ in }
    /// Called once, after the last item was sent.
    var ended: (AnswerEnd) -> Void = { _ in }

    init(client: any ClientStream, latency: TimeAmount, buckets: [TokenBucket]) {
        self.client = client
        self.latency = latency
        self.latencyIsOver = latency <= .nanoseconds(0)
        self.buckets = buckets
    }

    private var proxy: ProxyContext { self.client.peer.session }

    var isFull: Bool { self.queuedSize >= Self.highWater || !self.client.isWritable }

    /// A timer of this player is running: nothing is wrong with a client that waits.
    var isWaiting: Bool { self.timer != nil || self.isStalledForever }

    func put(_ item: AnswerItem) {
        guard !self.isOver else { return }
        if case .data(let bytes) = item { self.queuedSize += bytes.count }
        self.queue.append(item)
        self.play()
    }

    func writabilityChanged() {
        self.play()
        if !self.isFull { self.drained() }
    }

    /// Sends nothing more.
    func stop() {
        self.isOver = true
        self.timer?.cancel()
        self.timer = nil
        self.queue.removeAll()
        self.queuedSize = 0
    }

    // MARK: Playing

    private func play() {
        // Sending can change the client's writability, which asks for more.
        guard !self.isPlaying else {
            self.wantsMore = true
            return
        }
        self.isPlaying = true
        repeat {
            self.wantsMore = false
            self.playQueue()
        } while self.wantsMore && !self.isOver
        self.isPlaying = false
    }

    private func playQueue() {
        while self.timer == nil, !self.isOver, !self.isStalledForever, let item = self.queue.first {
            switch item {
            case .interim(let head):
                // It opens a tunnel (RFC 9110, 15.2.2).
                guard head.status != 101 || self.isDue() else { return }
                self.queue.removeFirst()
                self.client.send(interim: head)
                self.client.flush()
            case .head(let head, let framing):
                guard self.isDue() else { return }
                self.queue.removeFirst()
                self.framing = framing
                self.client.send(head, framing: framing)
            case .local(let answer, let isFinal):
                guard self.isDue() else { return }
                self.queue.removeFirst()
                self.client.send(answer, isFinal: isFinal)
            case .data(let bytes):
                guard self.client.isWritable else { return self.client.flush() }
                self.play(bytes)
            case .raw(let bytes):
                guard self.isDue() else { return }
                self.queue.removeFirst()
                // Writes the head first, if there is one.
                self.client.flush()
                self.client.write(ByteBuffer(bytes: bytes))
                self.client.flush()
            case .stall(let time):
                self.queue.removeFirst()
                self.client.flush()
                self.stalled(time)
                guard let time else {
                    self.isStalledForever = true
                    return
                }
                self.wait(.nanoseconds(time.nanoseconds))
            case .flush:
                self.queue.removeFirst()
                self.client.flush()
                self.wait(.milliseconds(1))
            case .closeOutput:
                self.queue.removeFirst()
                self.client.closeOutput()
            case .end(let end):
                guard self.isDue() else { return }
                self.queue.removeFirst()
                self.end(end)
            }
        }
        if !self.isOver { self.client.flush() }
    }

    /// Whether the answer may begin; if not, a timer goes on with it.
    private func isDue() -> Bool {
        guard !self.latencyIsOver else { return true }
        self.latencyIsOver = true
        self.wait(self.latency)
        return false
    }

    private func play(_ bytes: [UInt8]) {
        guard let portion = self.buckets.map(\.portion).min(), !bytes.isEmpty else {
            self.queue.removeFirst()
            self.queuedSize -= bytes.count
            return self.send(bytes[...])
        }
        let count = min(portion, bytes.count)
        let slice = bytes.prefix(count)
        if count < bytes.count {
            self.queue[self.queue.startIndex] = .data(Array(bytes.dropFirst(count)))
        } else {
            self.queue.removeFirst()
        }
        let now = self.proxy.now
        let due = self.buckets.map { $0.reserve(count, now: now) }.max() ?? now
        self.wait(due - now) {
            $0.queuedSize -= count
            $0.send(slice)
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) {
        let buffer = ByteBuffer(bytes: bytes)
        if self.isTunnel { self.client.write(buffer) } else { self.client.send(BodyPiece(bytes: buffer)) }
    }

    private func wait(_ time: TimeAmount, then: @escaping (AnswerPlayer) -> Void = { _ in }) {
        guard time > .nanoseconds(0) else { return then(self) }
        self.client.flush()
        self.timer = self.proxy.loop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            guard let self, !self.isOver else { return }
            self.proxy.readClock()
            self.timer = nil
            let wasFull = self.isFull
            then(self)
            self.play()
            if wasFull, !self.isFull { self.drained() }
        }
    }

    private func end(_ end: AnswerEnd) {
        self.isOver = true
        // Before the client's connection goes on or closes, which releases the exchange that has to hear of it.
        self.ended(end)
        guard case .finished(let trailers, let neverIndexed) = end else { return self.breakOff(end) }
        if self.framing != .none {
            var last = BodyPiece(bytes: ByteBuffer(), isLast: true)
            if trailers.count > 0 {
                last.events = [.trailers(trailers)]
                last.neverIndexed = neverIndexed
            }
            self.client.send(last)
        }
        self.client.finish()
    }

    private func breakOff(_ end: AnswerEnd) {
        switch end {
        case .finished: break
        case .cut where self.isTunnel: self.client.closeAfterFlush(isCut: true)
        case .cut: self.client.cut()
        case .closed: self.client.closeAfterFlush(isCut: false)
        case .brokenOff(let code, let isReset): self.client.breakOff(as: code.map(Int.init), isReset: isReset)
        case .reset(let code, let isOfConnection): self.client.reset(code: code, isOfConnection: isOfConnection)
        }
    }
}
