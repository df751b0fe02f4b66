public import CassetteModel
public import TapeBytes

/// How long a replayed answer takes.
///
/// Knows no recording; `ReplaySchedule` applies it to one.
public enum Latency: Sendable, Hashable, CustomStringConvertible {
    /// As fast as possible.
    case none
    /// As long as the recorded exchange took, times this factor. Applies to its beginning, its interim responses, and each piece of its
    /// body.
    case scaled(Double)
    /// This many milliseconds until it begins, and no delay after that.
    case fixed(Double)

    /// Whether an answer takes at least as long as it did in the recording, so that a client that leaves after a time leaves again.
    public var isAtLeastRecorded: Bool { if case .scaled(let factor) = self { factor >= 1 } else { false } }

    /// A larger factor is more likely a mistake.
    private static let largestFactor = 1000.0
    /// An hour in milliseconds, longer than any client's timeout.
    static let longest = 3_600_000.0

    /// `none`, `recorded`; `×2`, `x2` or `2×` for twice as long; `250ms` or `2s` for a fixed time.
    public init(_ text: String) throws(SettingSyntaxError) {
        switch text {
        case "none": self = .none
        case "recorded": self = .scaled(1)
        case _:
            if let latency = try Self.factor(text) {
                self = latency
            } else if let latency = try Self.delay(text) {
                self = latency
            } else {
                throw Self.error(text, "is not a latency")
            }
        }
    }

    private static func factor(_ text: String) throws(SettingSyntaxError) -> Latency? {
        let digits: Substring
        if let first = text.first, first == "×" || first == "x" {
            digits = text.dropFirst()
        } else if let last = text.last, last == "×" || last == "x" {
            digits = text.dropLast()
        } else {
            return nil
        }
        guard let factor = self.number(digits) else { return nil }
        guard factor > 0, factor <= self.largestFactor else {
            throw self.error(text, "is not a factor above 0 and up to \(Int(self.largestFactor))")
        }
        return .scaled(factor)
    }

    private static func delay(_ text: String) throws(SettingSyntaxError) -> Latency? {
        let isMilliseconds = text.hasSuffix("ms")
        guard text.hasSuffix("s"), let number = self.number(text.dropLast(isMilliseconds ? 2 : 1)) else { return nil }
        let milliseconds = isMilliseconds ? number : number * 1000
        guard milliseconds <= self.longest else { throw self.error(text, "is longer than an hour") }
        return .fixed(milliseconds)
    }

    /// Decimal digits with an optional fraction.
    private static func number(_ text: Substring) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { 48...57 ~= $0 } }) else { return nil }
        return Double(text)
    }

    private static func error(_ text: String, _ problem: String) -> SettingSyntaxError {
        SettingSyntaxError(
            "\"\(PlainText.escape(text.utf8, limit: 40))\" \(problem); write \"none\", \"recorded\", \"x2\" for twice the recorded time, or a time such as \"250ms\" or \"2s\""
        )
    }

    public var description: String {
        switch self {
        case .none: "none"
        case .scaled(1): "recorded"
        case .scaled(let factor): "x\(Self.text(factor))"
        case .fixed(let milliseconds): "\(Self.text(milliseconds))ms"
        }
    }

    /// Without an exponent, so that it can be parsed again.
    private static func text(_ number: Double) -> String {
        number == number.rounded() ? String(Int(number)) : String(number)
    }
}

/// When each part of a replayed answer is due.
///
/// All times are milliseconds since the moment selected by `isFromStart`. Has no clock and no bytes: it receives the time and returns a
/// number of bytes. Times in a cassette may have been edited, so they are made ascending and limited to an hour.
public struct ReplaySchedule: Sendable {
    /// Whether times are relative to the request's start, as in the recording, or to its end.
    public let isFromStart: Bool
    /// When the first byte of the final response, or a failure as a whole, is due.
    public let head: Double
    /// When the end is due: the last chunk, the trailers, the close.
    public let end: Double
    /// The number of body bytes up to the end of each piece, and when it is due; ascending.
    private let pieces: [(end: Int, at: Double)]
    private let factor: Double
    private var next = 0

    /// Nil if there is nothing to wait for.
    ///
    /// - Parameters:
    ///   - arrival: the arrival times of the body's bytes; nil if they arrived in one piece.
    ///   - isWhole: whether the body arrived to its end.
    public init?(_ latency: Latency, times: RecordedTimes, arrival: Arrival?, isWhole: Bool = true) {
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
            // A body in one piece arrived at its end. When the rest was given up, its beginning had arrived before.
            if arrival == nil { pieces.append((.max, isWhole ? max(head, end) : head)) }
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

    /// Less than this many milliseconds before its client left, a piece may have made it leave.
    private static let reaction = 100.0
    /// For how long the last piece is held back.
    private static let (shortestHold, longestHold) = (50.0, 250.0)

    /// Of an answer that goes on in silence, because its client left it. Nil if all of the body can be sent at once.
    ///
    /// A program that writes what it gets to another one (`curl URL | head -1`) learns that the other one has ended only when it writes again.
    /// So the piece that it got last, just before it left, comes a moment after the rest.
    ///
    /// - Parameter size: of the body.
    public init?(leaving times: RecordedTimes, arrival: Arrival?, size: Int) {
        let pieces = arrival?.pieces ?? []
        guard pieces.count > 1, let last = pieces.last, 1..<size ~= last.size, times.end - times.head - last.at < Self.reaction else {
            return nil
        }
        let hold = min(max(last.at - pieces[pieces.count - 2].at, Self.shortestHold), Self.longestHold)
        self.isFromStart = true
        self.head = 0
        self.end = hold
        self.pieces = [(size - last.size, 0), (.max, hold)]
        self.factor = 0
    }

    private static func time(_ milliseconds: Double) -> Double {
        milliseconds.isNaN ? 0 : min(max(0, milliseconds), Latency.longest)
    }

    /// When an interim response that arrived at this time is due; never after the final response.
    public func interim(at: Double) -> Double {
        self.isFromStart ? min(self.head, Self.time(at * self.factor)) : self.head
    }

    /// How many bytes of the body, from its start, are due by `now`; nil for all.
    public mutating func count(by now: Double) -> Int? {
        while self.next < self.pieces.count, self.pieces[self.next].at <= now { self.next += 1 }
        guard self.next < self.pieces.count else { return nil }
        return self.next == 0 ? 0 : self.pieces[self.next - 1].end
    }

    /// When more bytes are due than `count` last returned; nil if all are.
    public var nextDue: Double? { self.next < self.pieces.count ? self.pieces[self.next].at : nil }
}

/// When the parts of a recorded answer arrived, in milliseconds since its exchange began.
public struct RecordedTimes: Sendable, Hashable {
    /// The first byte of the final response; for a failure, its detection.
    public var head: Double
    /// The last byte.
    public var end: Double

    public init(head: Double, end: Double) {
        self.head = head
        self.end = end
    }

    /// Sums the phases before the response. If the cassette has none, uses the time of the last interim response.
    public init(_ interaction: Interaction) {
        let timing = interaction.timing
        let phases = [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait].compactMap { $0 }
        let receive = timing.receive ?? 0
        let lastInterim = interaction.interim.last?.at ?? 0
        if interaction.response == nil {
            self.head = timing.total ?? lastInterim
            self.end = self.head
        } else {
            self.head = phases.isEmpty ? timing.total.map { $0 - receive } ?? lastInterim : phases.reduce(0, +)
            self.end = self.head + receive
        }
    }
}
