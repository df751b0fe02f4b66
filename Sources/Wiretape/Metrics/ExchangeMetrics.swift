public import CassetteModel

/// How long the phases of one exchange took, by whom it was measured.
public struct ExchangeMetrics: Sendable, Hashable {
    public enum Source: Sendable, Hashable {
        /// `URLSessionTaskMetrics`, where the platform has them.
        case platform
        /// The cassette, when the exchange was recorded.
        case recording
        /// The session, from the events of the transport: what came before the head is all waiting.
        case session
    }

    public var source: Source
    /// Milliseconds; nil where a phase did not happen or was not measured.
    public var timing: Timing
    /// When each piece of the body came, in milliseconds since the head.
    public var pieces: [Arrival.Piece]

    public init(source: Source, timing: Timing, pieces: [Arrival.Piece] = []) {
        self.source = source
        self.timing = timing
        self.pieces = pieces
    }

    /// As a cassette keeps them; the pieces beyond its limit are one.
    ///
    /// - Parameter isChunked: whether the pieces are the chunks of the wire, which a session does not see.
    public func arrival(isChunked: Bool = false) -> Arrival? {
        guard !self.pieces.isEmpty else { return nil }
        var arrival = Arrival(isChunked: isChunked)
        for piece in self.pieces { arrival.take(piece) }
        return arrival
    }
}
