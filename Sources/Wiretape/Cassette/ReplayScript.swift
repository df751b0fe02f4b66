internal import CassetteModel
internal import CassettePlayback
internal import Foundation

/// Decides the next step of a replayed response. Knows no clock, disk or receiver.
///
/// Times are milliseconds since the replay began.
struct ReplayScript {
    enum Step {
        case emit(TransportEvent)
        /// Call `next` again at this time.
        case wait(until: Double)
        /// Call `read` with at most this many bytes of the content.
        case read(limit: Int)
        /// No further events, not even an end.
        case hang
        case over
    }

    private enum Phase { case sent(Int), interim(Int), head, body, trailers, metrics, ending, over }

    /// How many bytes of a large body are delivered at once.
    static let pieceSize = 256 << 10

    let answer: ReadyAnswer
    /// The URL of the live request.
    private let url: URL
    private let bodySize: Int?
    private var schedule: ReplaySchedule?
    private var phase: Phase
    /// How many pieces and bytes of the content have been delivered.
    private var piece = 0
    private var given = 0
    private var loaded: Data?
    private var isContentOver = false
    private var problem: TransportFailure?

    init(_ answer: ReadyAnswer, request: TransportRequest, latency: Latency) {
        self.answer = answer
        self.url = request.url
        self.bodySize = request.body.size
        self.phase = request.body.isPresent ? .sent(0) : .interim(0)
        if case .none = latency { return }
        self.schedule = ReplaySchedule(latency, times: answer.times, arrival: answer.arrival)
    }

    mutating func next(now: Double) -> Step {
        if let problem {
            self.problem = nil
            self.phase = .over
            return .emit(.failed(problem))
        }
        switch self.phase {
        case .sent(let index): return self.sent(index, now)
        case .interim(let index): return self.interim(index, now)
        case .head:
            if let due = self.schedule?.head, due > now { return .wait(until: due) }
            guard var head = self.answer.head else { return self.end() }
            head.url = self.url
            self.phase = .body
            return .emit(.head(head))
        case .body: return self.body(now)
        case .trailers:
            if let due = self.schedule?.end, due > now { return .wait(until: due) }
            self.phase = .metrics
            guard let trailers = self.answer.trailers, case .end = self.answer.ending else { return self.metrics() }
            return .emit(.trailers(trailers))
        case .metrics: return self.metrics()
        case .ending: return self.end()
        case .over: return .over
        }
    }

    /// Reports the live request's body as sent, in the proportions of the recorded pieces.
    private mutating func sent(_ index: Int, _ now: Double) -> Step {
        guard let size = self.bodySize, size > 0 else {
            self.phase = .interim(0)
            return self.next(now: now)
        }
        let thousandths = index < self.answer.sent.count ? self.answer.sent[index] : 1000
        let isLast = index + 1 >= self.answer.sent.count
        self.phase = isLast ? .interim(0) : .sent(index + 1)
        let (high, low) = size.multipliedFullWidth(by: min(max(0, thousandths), 1000))
        let count = isLast || thousandths >= 1000 ? size : 1000.dividingFullWidth((high, low)).quotient
        return .emit(.sent(Int64(count), of: Int64(size)))
    }

    private mutating func interim(_ index: Int, _ now: Double) -> Step {
        guard index < self.answer.interim.count else {
            self.phase = .head
            return self.next(now: now)
        }
        let interim = self.answer.interim[index]
        if let due = self.schedule?.interim(at: interim.at), due > now { return .wait(until: due) }
        self.phase = .interim(index + 1)
        return .emit(.interim(status: interim.status, headers: interim.headers))
    }

    private mutating func body(_ now: Double) -> Step {
        switch self.answer.content {
        case .none: return self.bodyEnded(now)
        case .pieces(let pieces):
            while self.piece < pieces.count, pieces[self.piece].isEmpty { self.piece += 1 }
            guard self.piece < pieces.count else { return self.bodyEnded(now) }
            let bytes = pieces[self.piece]
            if let due = self.due(self.given + bytes.count, now) { return .wait(until: due) }
            self.piece += 1
            self.given += bytes.count
            return .emit(.chunk(bytes))
        case .stream:
            guard !self.isContentOver || self.loaded != nil else { return self.bodyEnded(now) }
            guard let bytes = self.loaded else { return .read(limit: self.pieceLimit) }
            if bytes.isEmpty {
                self.loaded = nil
                return self.next(now: now)
            }
            if let due = self.due(self.given + bytes.count, now) { return .wait(until: due) }
            self.loaded = nil
            self.given += bytes.count
            return .emit(.chunk(bytes))
        }
    }

    private mutating func bodyEnded(_ now: Double) -> Step {
        self.phase = .trailers
        return self.next(now: now)
    }

    /// When the content up to this byte is due; nil if it is due now.
    private mutating func due(_ end: Int, _ now: Double) -> Double? {
        guard let count = self.schedule?.count(by: now), count < end else { return nil }
        return self.schedule?.nextDue
    }

    /// The number of bytes up to the end of the recorded piece.
    private var pieceLimit: Int {
        var end = 0
        for piece in self.answer.arrival?.pieces ?? [] {
            end += piece.size
            if end > self.given { return min(Self.pieceSize, end - self.given) }
        }
        return Self.pieceSize
    }

    /// The caller has read this part of the content.
    mutating func read(_ bytes: Data, isLast: Bool) {
        self.loaded = bytes
        self.isContentOver = isLast
    }

    /// The rest of the content cannot be read.
    mutating func failed(_ failure: TransportFailure) { self.problem = failure }

    private mutating func metrics() -> Step {
        self.phase = .ending
        guard let metrics = self.answer.metrics else { return self.end() }
        return .emit(.metrics(metrics))
    }

    private mutating func end() -> Step {
        // Without a head, the failure keeps its recorded time.
        if self.answer.head == nil, case .head = self.phase {
            self.phase = .metrics
            return self.next(now: .infinity)
        }
        switch self.answer.ending {
        case .hang: return .hang
        case .end:
            self.phase = .over
            return .emit(.end)
        case .failed(let failure):
            self.phase = .over
            return .emit(.failed(failure))
        }
    }
}
