public import CassetteModel
internal import Foundation

/// How long the phases of one exchange took, and the source of the measurement.
public struct ExchangeMetrics: Sendable, Hashable {
    public enum Source: Sendable, Hashable {
        /// `URLSessionTaskMetrics`, if the platform has them.
        case platform
        /// The cassette, when the exchange was recorded.
        case recording
        /// The session, from the transport's events: all time before the head is waiting time.
        case session
    }

    public var source: Source
    /// In milliseconds; nil if a phase did not happen or was not measured.
    public var timing: Timing
    /// When each piece of the body arrived, in milliseconds since the head.
    public var pieces: [Arrival.Piece]

    public init(source: Source, timing: Timing, pieces: [Arrival.Piece] = []) {
        self.source = source
        self.timing = timing
        self.pieces = pieces
    }

    /// The pieces as a cassette stores them; those above its limit are merged.
    ///
    /// - Parameter isChunked: whether the pieces are HTTP/1.1 chunks, which a session cannot see.
    public func arrival(isChunked: Bool = false) -> Arrival? {
        guard !self.pieces.isEmpty else { return nil }
        var arrival = Arrival(isChunked: isChunked)
        for piece in self.pieces { arrival.take(piece) }
        return arrival
    }
}

extension Arrival {
    /// Appends a piece; above the limit, the last piece grows instead.
    mutating func take(_ piece: Piece) {
        guard self.pieces.count >= Self.pieceLimit, let last = self.pieces.indices.last else {
            self.pieces.append(piece)
            return
        }
        self.isThinned = true
        self.pieces[last].size += piece.size
    }
}

/// The moments of one exchange as `URLSessionTaskTransactionMetrics` names them; nil if one did not happen.
struct TransactionTimes: Sendable, Hashable {
    var fetchStart: Date?
    var domainLookupStart: Date?
    var domainLookupEnd: Date?
    var connectStart: Date?
    var secureConnectionStart: Date?
    var secureConnectionEnd: Date?
    var connectEnd: Date?
    var requestStart: Date?
    var requestEnd: Date?
    var responseStart: Date?
    var responseEnd: Date?

    /// As cassettes count: `connect` is the transport's connection alone, `tls` the handshake after it.
    var timing: Timing {
        let firstStep = self.domainLookupStart ?? self.connectStart ?? self.requestStart
        return Timing(
            blocked: Self.milliseconds(self.fetchStart, firstStep),
            dns: Self.milliseconds(self.domainLookupStart, self.domainLookupEnd),
            connect: Self.milliseconds(self.connectStart, self.secureConnectionStart ?? self.connectEnd),
            tls: Self.milliseconds(self.secureConnectionStart, self.secureConnectionEnd),
            send: Self.milliseconds(self.requestStart, self.requestEnd), wait: Self.milliseconds(self.requestEnd, self.responseStart),
            receive: Self.milliseconds(self.responseStart, self.responseEnd),
            total: Self.milliseconds(self.fetchStart ?? self.requestStart, self.responseEnd))
    }

    /// With microsecond precision; 0 if a response begins before its request has ended.
    private static func milliseconds(_ start: Date?, _ end: Date?) -> Double? {
        guard let start, let end else { return nil }
        return max(0, (end.timeIntervalSince(start) * 1e6).rounded() / 1000)
    }
}

#if !canImport(FoundationNetworking)
extension TransactionTimes {
    init(_ metrics: URLSessionTaskTransactionMetrics) {
        self.fetchStart = metrics.fetchStartDate
        self.domainLookupStart = metrics.domainLookupStartDate
        self.domainLookupEnd = metrics.domainLookupEndDate
        self.connectStart = metrics.connectStartDate
        self.secureConnectionStart = metrics.secureConnectionStartDate
        self.secureConnectionEnd = metrics.secureConnectionEndDate
        self.connectEnd = metrics.connectEndDate
        self.requestStart = metrics.requestStartDate
        self.requestEnd = metrics.requestEndDate
        self.responseStart = metrics.responseStartDate
        self.responseEnd = metrics.responseEndDate
    }
}

extension ExchangeMetrics {
    /// The last exchange of a task: a transport's tasks have one each. Nil if there was none.
    init?(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return nil }
        self.init(source: .platform, timing: TransactionTimes(last).timing)
    }
}
#endif
