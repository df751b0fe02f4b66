internal import CassetteModel
internal import CassettePlayback
internal import Foundation

/// A recorded response, ready for replay: its head as the client sees it, its body without codings.
final class ReadyAnswer: Sendable {
    /// Where the bytes of the content are.
    enum Content: Sendable {
        case none
        /// In memory, in the pieces in which they arrived.
        case pieces([Data])
        /// Too large for memory: read while it is delivered.
        case stream(Body)
    }

    struct Interim: Sendable {
        var status: Int
        var headers: HTTPSession.Headers
        /// Milliseconds since the exchange started.
        var at: Double
    }

    let interim: [Interim]
    /// Nil if the exchange failed before a response arrived. Its URL is that of the recording.
    let head: HTTPSession.Response?
    let content: Content
    let trailers: HTTPSession.Headers?
    /// Nil if nothing was measured.
    let metrics: ExchangeMetrics?
    /// When the bytes of the content arrived; nil if they arrived in one piece, or if the size is unknown before the end.
    let arrival: Arrival?
    let times: RecordedTimes
    /// The share of the request's body that had been sent after each of its pieces, in thousandths; empty if it was sent in one piece.
    let sent: [Int]
    let ending: Ending

    enum Ending: Sendable {
        case end
        case failed(TransportFailure)
        /// No further events, not even an end.
        case hang
    }

    init(
        interim: [Interim] = [], head: HTTPSession.Response?, content: Content, trailers: HTTPSession.Headers? = nil, arrival: Arrival?,
        times: RecordedTimes, ending: Ending
    ) {
        self.interim = interim
        self.head = head
        self.content = content
        self.trailers = trailers
        self.metrics = nil
        self.arrival = arrival
        self.times = times
        self.sent = []
        self.ending = ending
    }

    init(
        _ interaction: Interaction, url: URL, source: ExchangeSource, content: Content, arrival: Arrival?, failure: TransportFailure?
    ) {
        self.interim = interaction.interim.map { Interim(status: $0.status, headers: HTTPSession.Headers($0.headers), at: $0.at) }
        self.head = interaction.response.map { response in
            HTTPSession.Response(
                url: url, status: response.status, reason: String(decoding: response.reason, as: UTF8.self),
                headers: HTTPSession.Headers(response.receivedHeaders), source: source)
        }
        self.content = content
        self.trailers = interaction.response?.trailers.map { HTTPSession.Headers($0) }
        self.arrival = arrival
        self.metrics = ExchangeMetrics(source: .recording, timing: interaction.timing, pieces: arrival?.pieces ?? [])
        self.times = RecordedTimes(interaction)
        self.sent = interaction.request.body?.arrival.map { Self.shares(PieceMap.mapped($0, to: 1000)) } ?? []
        // A client that cancelled never saw what would have followed. A client that failed gets its failure again.
        let kind: Failure.Kind? = if case .cut(let cut) = interaction.outcome, cut.by == .client { cut.kind } else { nil }
        let isHeld = kind.map { $0 == .cancelled } ?? interaction.endsInOpenEvents
        self.ending = isHeld ? .hang : failure.map { .failed($0) } ?? .end
    }

    private static func shares(_ arrival: Arrival) -> [Int] {
        var end = 0
        return arrival.pieces.map {
            end += $0.size
            return end
        }
    }

    var isStreamed: Bool {
        if case .stream = self.content { true } else { false }
    }

    /// Approximate memory, in bytes.
    var weight: Int {
        let body = if case .pieces(let pieces) = self.content { pieces.reduce(0) { $0 + $1.count + 64 } } else { 0 }
        return 1024 + body + (self.head?.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 } ?? 0)
    }
}

/// Maps the recorded pieces of a body to its decoded content.
///
/// Content without codings is split where it was split on the wire. The arrival of decoded bytes is unknown: each piece gets the same share
/// of the content as it had of the coded bytes, and the last one gets the rest.
enum PieceMap {
    /// The pieces with their sizes in the content, which add up to `size`.
    static func mapped(_ arrival: Arrival, to size: Int) -> Arrival {
        var mapped = arrival
        let total = arrival.pieces.reduce(0) { $0 + self.size(of: $1) }
        guard total > 0 else {
            for index in mapped.pieces.indices { mapped.pieces[index].size = 0 }
            if !mapped.pieces.isEmpty { mapped.pieces[mapped.pieces.count - 1].size = size }
            return mapped
        }
        var (came, given) = (0, 0)
        for index in arrival.pieces.indices {
            came += self.size(of: arrival.pieces[index])
            let end = came == total ? size : self.share(of: size, came, total)
            mapped.pieces[index].size = end - given
            given = end
        }
        return mapped
    }

    /// Limited, so that sums of sizes in an edited cassette do not overflow.
    private static func size(of piece: Arrival.Piece) -> Int { min(max(0, piece.size), 1 << 40) }

    /// `size · part / total` without overflow.
    private static func share(of size: Int, _ part: Int, _ total: Int) -> Int {
        let (high, low) = size.multipliedFullWidth(by: part)
        // `part` is less than `total`, so that the quotient fits.
        return total.dividingFullWidth((high, low)).quotient
    }
}
