internal import CassetteModel
internal import CassettePlayback
internal import Foundation

/// A recorded answer made ready to be given: its head as the client sees it, its body free of codings.
final class ReadyAnswer: Sendable {
    /// Where the octets of the content are.
    enum Content: Sendable {
        case none
        /// As they came.
        case pieces([Data])
        /// Too large to hold: read while it is given.
        case stream(Body)
    }

    struct Interim: Sendable {
        var status: Int
        var headers: HTTPHeaders
        /// Milliseconds since the exchange started.
        var at: Double
    }

    let interim: [Interim]
    /// Nil where the exchange failed before a response came. Its URL is that of the recording.
    let head: HTTPResponse?
    let content: Content
    let trailers: HTTPHeaders?
    /// Nil where nobody measured anything.
    let metrics: ExchangeMetrics?
    /// How the content came, by octets of the content; nil where it came in one piece, or its size is not known before its end.
    let arrival: Arrival?
    let times: RecordedTimes
    /// By which share of the request's body each of its pieces ended, in thousandths; empty where it went in one.
    let sent: [Int]
    let ending: Ending

    enum Ending: Sendable {
        case end
        case failed(TransportFailure)
        /// Nothing more comes, and no end.
        case hang
    }

    init(
        interim: [Interim] = [], head: HTTPResponse?, content: Content, trailers: HTTPHeaders? = nil, arrival: Arrival?,
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
        self.interim = interaction.interim.map { Interim(status: $0.status, headers: HTTPHeaders($0.headers), at: $0.at) }
        self.head = interaction.response.map { response in
            HTTPResponse(
                url: url, status: response.status, reason: String(decoding: response.reason, as: UTF8.self),
                headers: HTTPHeaders(response.receivedHeaders), source: source)
        }
        self.content = content
        self.trailers = interaction.response?.trailers.map { HTTPHeaders($0) }
        self.arrival = arrival
        self.metrics = ExchangeMetrics(source: .recording, timing: interaction.timing, pieces: arrival?.pieces ?? [])
        self.times = RecordedTimes(interaction)
        self.sent = interaction.request.body?.arrival.map { Self.shares(PieceMap.mapped($0, to: 1000)) } ?? []
        self.ending = failure.map { .failed($0) } ?? .end
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

    /// Memory it holds, in octets, about.
    var weight: Int {
        let body = if case .pieces(let pieces) = self.content { pieces.reduce(0) { $0 + $1.count + 64 } } else { 0 }
        return 1024 + body + (self.head?.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 } ?? 0)
    }
}
