internal import CassetteModel
internal import CassettePlayback
internal import NIOCore
internal import TapeExchange

/// Sends a recorded body as fast as the client takes it or at the speed of a `ReplayPace`. A body in a file is read piece by piece.
///
/// The end of a body from a file is sent only after the file's digest has been verified, so a damaged file never looks complete. Not
/// Sendable: lives on its event loop.
final class ReplayBodySender {
    private let answer: RecordedAnswer
    private let client: any ClientStream
    private let isChunked: Bool
    private let library: ReplayLibrary?
    private var framer: BodyFramer
    private var stream: ReplayFileStream?
    private var isLoading = false
    /// nil once the body has ended.
    private var done: ((_ problem: String?) -> Void)?
    private let trailers: HeaderFields?
    /// nil if the body is sent as fast as the client takes it.
    private let pace: ReplayPace?
    /// Loaded bytes, which may not be due yet. Those from `position` on have not been sent.
    private var loaded: [UInt8] = []
    private var position = 0
    private var isLastLoaded = false
    private var sent = 0

    /// - Parameter trailers: those of the answer, adapted to the request.
    init(
        answer: RecordedAnswer, trailers: HeaderFields?, isChunked: Bool, client: any ClientStream, library: ReplayLibrary?,
        pace: ReplayPace? = nil
    ) {
        self.answer = answer
        self.trailers = trailers
        self.isChunked = isChunked
        self.pace = pace
        self.client = client
        self.library = library
        self.framer = BodyFramer(
            arrival: answer.arrival, isChunked: isChunked, size: answer.size, isComplete: answer.isComplete, trailers: trailers)
    }

    /// - Parameter done: called with the reason why the body could not be sent whole, or with nil.
    func start(_ done: @escaping (_ problem: String?) -> Void) {
        self.done = done
        switch self.answer.payload {
        case .none:
            self.take([], isLast: true)
        case .bytes(let bytes) where self.pace != nil:
            self.take(bytes, isLast: true)
        case .bytes(let bytes):
            self.finish(bytes[...])
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

    /// Loads and sends the next piece, unless the client has yet to take the previous ones.
    func proceed() {
        if self.pace != nil, self.isLastLoaded || self.position < self.loaded.count { return self.sendDue() }
        guard let stream, !self.isLoading, self.client.isWritable, self.done != nil else { return }
        self.isLoading = true
        stream.next { [weak self] piece in
            guard let self, self.done != nil else { return }
            self.isLoading = false
            switch piece {
            case .bytes(let bytes): self.take(bytes, isLast: false)
            case .last(let bytes): self.take(bytes, isLast: true)
            case .damaged(let problem): self.finish([], problem: problem)
            }
        }
    }

    /// Sends a piece, or the part of it that is due.
    private func take(_ bytes: [UInt8], isLast: Bool) {
        guard self.pace == nil else {
            self.loaded = bytes
            self.position = 0
            self.isLastLoaded = isLast
            return self.sendDue()
        }
        if isLast { return self.finish(bytes[...]) }
        self.send(bytes[...])
        self.client.flush()
        self.proceed()
    }

    /// Sends the part of the loaded piece that is due, and schedules itself for the rest.
    private func sendDue() {
        guard let pace, self.done != nil, self.client.isWritable else { return }
        let left = self.loaded.count - self.position
        let count = min(left, pace.count().map { max(0, $0 - self.sent) } ?? left)
        if count > 0 {
            let due = self.loaded[self.position..<self.position + count]
            self.position += count
            self.sent += count
            self.send(due)
            self.client.flush()
        }
        if self.position < self.loaded.count {
            pace.wait(until: pace.nextDue ?? pace.end) { [weak self] in self?.sendDue() }
        } else if self.isLastLoaded {
            pace.wait(until: pace.end) { [weak self] in self?.finish([]) }
        } else {
            self.loaded = []
            self.position = 0
            self.proceed()
        }
    }

    func stop() {
        self.pace?.stop()
        self.done = nil
        self.stream = nil
    }

    /// Sends bytes of the body with their recorded framing.
    private func send(_ body: ArraySlice<UInt8>, isLast: Bool = false) {
        var wire: [UInt8] = []
        wire.reserveCapacity(body.count + 32)
        var payload: [Range<Int>] = []
        body.withUnsafeBytes { self.framer.frame($0, into: &wire, payload: &payload) }
        if isLast { self.framer.end(into: &wire) }
        guard !wire.isEmpty || isLast else { return }
        // A client of another HTTP version takes the payload and trailers and frames them itself.
        var events = self.isChunked ? payload.map { BodyEvent.data($0) } : nil
        if isLast, self.answer.isComplete, let trailers = self.trailers {
            events = payload.map { BodyEvent.data($0) } + [.trailers(trailers)]
        }
        // A truncated body has no last piece. Otherwise a client of another version would be sent a complete body.
        self.client.send(BodyPiece(bytes: ByteBuffer(bytes: wire), events: events, isLast: isLast && self.answer.isComplete))
    }

    private func finish(_ last: ArraySlice<UInt8>, problem: String? = nil) {
        guard let done else { return }
        self.stop()
        if problem == nil { self.send(last, isLast: true) }
        done(problem)
    }
}

/// Runs the schedule of one answer on the event loop's clock. Calls back when a part is due, with one timer at a time.
///
/// Not Sendable: lives on its event loop.
final class ReplayPace {
    private let proxy: ProxyContext
    private let start: NIODeadline
    private var schedule: ReplaySchedule
    private var timer: Scheduled<Void>?

    init(_ schedule: ReplaySchedule, start: NIODeadline, proxy: ProxyContext) {
        self.schedule = schedule
        self.start = start
        self.proxy = proxy
    }

    var head: Double { self.schedule.head }
    var end: Double { self.schedule.end }
    /// Whether the body has a schedule of its own.
    var pacesBody: Bool { self.schedule.isFromStart }
    /// Whether a part is not due yet.
    var isWaiting: Bool { self.timer != nil }

    func interim(at: Double) -> Double { self.schedule.interim(at: at) }

    /// How many bytes of the body are due; nil if all are.
    func count() -> Int? { self.schedule.count(by: self.elapsed) }

    /// When more bytes will be due than `count` last returned.
    var nextDue: Double? { self.schedule.nextDue }

    private var elapsed: Double { Double((self.proxy.loop.now - self.start).nanoseconds) / 1e6 }

    func isDue(_ due: Double) -> Bool { due <= self.elapsed }

    /// Calls back at a time, or at once if it is past. Cancels the previous wait.
    func wait(until due: Double, then: @escaping () -> Void) {
        self.stop()
        let left = due - self.elapsed
        guard left > 0 else { return then() }
        // Rounded up, so that the timer never fires before the time.
        self.timer = self.proxy.loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64((left * 1e6).rounded(.up)))) { [weak self] in
            guard let self else { return }
            self.timer = nil
            self.proxy.readClock()
            then()
        }
    }

    func stop() {
        self.timer?.cancel()
        self.timer = nil
    }
}
