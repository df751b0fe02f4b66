internal import CassetteModel
public import Foundation

/// What the session saw of one exchange: one hop of one attempt.
///
/// All durations count from the start of the request.
public struct HopMetrics: Sendable, Hashable {
    /// A piece of the body.
    public struct Piece: Sendable, Hashable {
        public var at: Duration
        /// Octets, free of codings.
        public var size: Int

        public init(at: Duration, size: Int) {
            self.at = at
            self.size = size
        }
    }

    public var method: String
    public var url: URL
    /// 0 for the first attempt.
    public var retryCount: Int
    public var sentAt: Duration
    /// The last octet of the request's body; nil where none went out or the transport does not say.
    public var bodySentAt: Duration?
    /// The status of the answer; nil before its head.
    public var status: Int?
    public var source: ExchangeSource?
    public var headAt: Duration?
    public var pieces: [Piece] = []
    /// True when pieces beyond `Arrival.pieceLimit` were merged into the last one.
    public var isThinned = false
    /// Its end or its failure; nil while it goes on.
    public var endedAt: Duration?
    /// What failed, if it did.
    public var failure: String?
    /// What the transport said: the platform's figures, or the cassette's.
    public var reported: ExchangeMetrics?

    public init(method: String, url: URL, retryCount: Int = 0, sentAt: Duration) {
        self.method = method
        self.url = url
        self.retryCount = retryCount
        self.sentAt = sentAt
    }

    /// Octets of the body that have come, free of codings.
    public var received: Int { self.pieces.reduce(0) { $0 + $1.size } }

    /// As the session saw it, in the words of a cassette.
    public var measured: ExchangeMetrics {
        let sent = self.bodySentAt ?? self.sentAt
        var timing = Timing()
        timing.send = self.bodySentAt.map { ($0 - self.sentAt).milliseconds }
        // An answer may come before the request has ended.
        timing.wait = self.headAt.map { max(.zero, $0 - sent).milliseconds }
        if let head = self.headAt, let end = self.endedAt { timing.receive = (end - head).milliseconds }
        timing.total = self.endedAt.map { ($0 - self.sentAt).milliseconds }
        let head = self.headAt ?? self.sentAt
        return ExchangeMetrics(
            source: .session, timing: timing, pieces: self.pieces.map { Arrival.Piece(at: ($0.at - head).milliseconds, size: $0.size) })
    }

    /// What the transport said, where it said something: for a replay the time that the server took, and not the time of reading a file.
    public var best: ExchangeMetrics { self.reported ?? self.measured }

    mutating func take(_ piece: Piece) {
        guard self.pieces.count >= Arrival.pieceLimit, let last = self.pieces.indices.last else {
            self.pieces.append(piece)
            return
        }
        self.isThinned = true
        self.pieces[last].size += piece.size
    }
}
