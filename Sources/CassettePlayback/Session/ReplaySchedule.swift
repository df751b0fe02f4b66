public import CassetteModel

/// When each part of a replayed answer is due.
///
/// All times are milliseconds since the moment that `isFromStart` names. Knows no clock and no octets: it is told the time and says how
/// many. Times that a cassette claims are taken in order and up to an hour, since it may be edited.
public struct ReplaySchedule: Sendable {
    /// The times count from the request's start, as in the recording; else from its end.
    public let isFromStart: Bool
    /// The first octet of the final response, or the whole of a failure.
    public let head: Double
    /// The end: the last chunk, the trailers, the close.
    public let end: Double
    /// By which octet of the body each piece ends, and when it is due; ascending.
    private let pieces: [(end: Int, at: Double)]
    private let factor: Double
    private var next = 0

    /// Nil where nothing is to be waited for.
    ///
    /// - Parameter arrival: how the body's octets came; nil where they came in one piece.
    public init?(_ latency: Latency, times: RecordedTimes, arrival: Arrival?) {
        switch latency {
        case .none:
            return nil
        case .fixed(let delay):
            self.isFromStart = false
            self.head = delay
            self.end = delay
            self.pieces = []
            self.factor = 0
        case .scaled(let factor):
            self.isFromStart = true
            self.factor = factor
            let head = Self.time(times.head * factor)
            var latest = head
            var size = 0
            var pieces: [(end: Int, at: Double)] = []
            pieces.reserveCapacity(arrival?.pieces.count ?? 0)
            let end = Self.time(times.end * factor)
            // A body in one piece came with its end.
            if arrival == nil { pieces.append((.max, max(head, end))) }
            for piece in arrival?.pieces ?? [] {
                size = size.addingReportingOverflow(max(0, piece.size)).partialValue
                latest = max(latest, Self.time(head + piece.at * factor))
                pieces.append((size, latest))
            }
            self.head = head
            self.end = max(latest, end)
            self.pieces = pieces
        }
    }

    private static func time(_ milliseconds: Double) -> Double {
        milliseconds.isNaN ? 0 : min(max(0, milliseconds), Latency.longest)
    }

    /// When an interim response is due that came at this time; never behind the final one.
    public func interim(at: Double) -> Double {
        self.isFromStart ? min(self.head, Self.time(at * self.factor)) : self.head
    }

    /// How many octets of the body are due by `now`, the first included; nil for all that there are.
    public mutating func count(by now: Double) -> Int? {
        while self.next < self.pieces.count, self.pieces[self.next].at <= now { self.next += 1 }
        guard self.next < self.pieces.count else { return nil }
        return self.next == 0 ? 0 : self.pieces[self.next - 1].end
    }

    /// When more octets are due than `count` said last; nil where all are.
    public var nextDue: Double? { self.next < self.pieces.count ? self.pieces[self.next].at : nil }
}
