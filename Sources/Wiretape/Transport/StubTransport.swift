public import CassetteModel
internal import CassettePlayback
public import Foundation
internal import TapeBytes

/// Answers requests without a network or a cassette: by a closure, from a list, or by rules.
///
/// Keeps all requests. A response that takes no time is delivered before `start` returns.
public final class StubTransport: Transport, WebSocketTransport {
    /// A response for the requests that match.
    public struct Rule: Sendable {
        let matches: @Sendable (TransportRequest) -> Bool
        let respond: @Sendable (TransportRequest) -> StubResponse

        public init(
            _ matches: @escaping @Sendable (TransportRequest) -> Bool, respond: @escaping @Sendable (TransportRequest) -> StubResponse
        ) {
            self.matches = matches
            self.respond = respond
        }

        /// - Parameters:
        ///   - method: nil matches any.
        ///   - path: of the URL, percent-decoded; nil matches any.
        public init(method: String? = nil, path: String? = nil, respond: @escaping @Sendable (TransportRequest) -> StubResponse) {
            self.init(
                { request in (method.map { $0 == request.method } ?? true) && (path.map { $0 == request.url.path } ?? true) },
                respond: respond)
        }
    }

    private let respond: @Sendable (TransportRequest, Int) -> StubResponse
    private let clock: any Clock<Duration>
    private let asked = Guarded<[TransportRequest]>([])

    private init(
        clock: any Clock<Duration>, numbered respond: @escaping @Sendable (_ request: TransportRequest, _ number: Int) -> StubResponse
    ) {
        self.clock = clock
        self.respond = respond
    }

    /// - Parameter clock: measures delays.
    public convenience init(
        clock: any Clock<Duration> = ContinuousClock(), _ respond: @escaping @Sendable (TransportRequest) -> StubResponse
    ) {
        self.init(clock: clock, numbered: { request, _ in respond(request) })
    }

    /// Returns these responses in order; further requests fail.
    public convenience init(_ responses: [StubResponse], clock: any Clock<Duration> = ContinuousClock()) {
        self.init(
            clock: clock,
            numbered: { request, number in
                guard number >= responses.count else { return responses[number] }
                return Self.nothing(
                    "request \(number + 1), \(Self.name(request)), has no response: the stub has only \(responses.count), add more.")
            })
    }

    /// The first rule that matches makes the response; other requests fail.
    public convenience init(rules: [Rule], clock: any Clock<Duration> = ContinuousClock()) {
        self.init(
            clock: clock,
            numbered: { request, _ in
                guard let rule = rules.first(where: { $0.matches(request) }) else {
                    return Self.nothing("no stub rule matches \(Self.name(request)): add one.")
                }
                return rule.respond(request)
            })
    }

    private static func name(_ request: TransportRequest) -> String { "\(request.method) \"\(LogURL.text(request.url))\"" }

    private static func nothing(_ problem: String) -> StubResponse {
        let failure = TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)
        return StubResponse(status: nil, ending: .failure(failure))
    }

    /// All requests so far, in the order of `start`.
    public var requests: [TransportRequest] { self.asked.withLock { $0 } }

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let number = self.asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        return self.respond(request, number).deliver(to: request, clock: self.clock, receive: receive)
    }

    public func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        let number = self.asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        return try await self.respond(request, number).open(request, protocols: protocols, clock: self.clock)
    }
}

/// Answers the requests that a rule matches, and sends the others on.
struct StubbedTransport: Transport, WebSocketTransport {
    let next: any Transport
    private let rules: [StubTransport.Rule]
    /// Notified of the requests that a rule answers.
    private let cassette: Cassette

    init(_ rules: [StubTransport.Rule], before next: any Transport, of cassette: Cassette) {
        self.rules = rules
        self.next = next
        self.cassette = cassette
    }

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        guard let rule = self.rules.first(where: { $0.matches(request) }) else { return self.next.start(request, receive: receive) }
        _ = self.cassette.admit()
        return rule.respond(request).deliver(to: request, clock: ContinuousClock(), receive: receive)
    }

    func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        guard let rule = self.rules.first(where: { $0.matches(request) }) else {
            return try await SocketOpening.open(request, protocols: protocols, with: self.next)
        }
        _ = self.cassette.admit()
        return try await rule.respond(request).open(request, protocols: protocols, clock: ContinuousClock())
    }
}

/// The answer of a stub: a response, whose chunks can be delayed, or a failure.
public struct StubResponse: Sendable {
    /// A part of the body.
    public struct Chunk: Sendable, Hashable {
        public var data: Data
        /// Delay after the previous chunk, or after the head.
        public var after: Duration

        public init(_ data: Data, after: Duration = .zero) {
            self.data = data
            self.after = after
        }
    }

    public enum Ending: Sendable {
        case end
        case failure(TransportFailure)
        /// No further events, not even an end: the client waits until it times out.
        case hang
    }

    /// 1xx responses before the head.
    public var interim: [(status: Int, headers: HTTPSession.Headers)] = []
    /// Nil for no response.
    public var status: Int?
    public var reason = ""
    public var headers: HTTPSession.Headers
    public var chunks: [Chunk]
    public var trailers: HTTPSession.Headers?
    /// Delay of the head, or of the failure in its place.
    public var delay: Duration = .zero
    public var ending: Ending
    /// The server's end, for a response that opens a WebSocket.
    var socket: StubSocketServer?

    public init(status: Int?, headers: HTTPSession.Headers = HTTPSession.Headers(), chunks: [Chunk] = [], ending: Ending = .end) {
        self.status = status
        self.headers = headers
        self.chunks = chunks
        self.ending = ending
    }

    /// A response whose body is one chunk.
    public static func response(_ status: Int = 200, headers: HTTPSession.Headers = HTTPSession.Headers(), body: Data = Data()) -> Self {
        Self(status: status, headers: headers, chunks: body.isEmpty ? [] : [Chunk(body)])
    }

    /// A response with this JSON text, unchanged, as `application/json`.
    public static func json(_ text: String, status: Int = 200) -> Self { self.text(text, type: "application/json", status: status) }

    public static func text(_ text: String, type: String = "text/plain; charset=utf-8", status: Int = 200) -> Self {
        self.response(status, headers: HTTPSession.Headers([HTTPSession.Header(name: "Content-Type", value: type)]), body: Data(text.utf8))
    }

    /// No response: the connection fails with this kind of failure.
    public static func failure(_ kind: Failure.Kind, _ message: String? = nil) -> Self {
        let failure = TransportFailure(.network(kind), message ?? "the stub answers with the failure \"\(kind.rawValue)\"")
        return Self(status: nil, ending: .failure(failure))
    }

    /// No response, ever.
    public static var hang: Self { Self(status: nil, ending: .hang) }

    /// The same response, after a delay.
    public func delayed(by delay: Duration) -> Self {
        var response = self
        response.delay = delay
        return response
    }
}

extension StubResponse {
    func deliver(
        to request: TransportRequest, clock: any Clock<Duration>, receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        let script = ReplayScript(self.answer(to: request.url), request: request, latency: self.isImmediate ? .none : .scaled(1))
        return ReplayPlayer.deliver(
            script, by: nil, watch: self.isImmediate ? nil : ElapsedClock(clock), isInline: true, receive: receive)
    }

    /// Whether no part of it is delayed.
    var isImmediate: Bool { self.delay <= .zero && self.chunks.allSatisfy { $0.after <= .zero } }

    func answer(to url: URL) -> ReadyAnswer {
        let head = self.status.map { HTTPSession.Response(url: url, status: $0, reason: self.reason, headers: self.headers, source: .stub) }
        let begin = self.delay.milliseconds
        var at = 0.0
        var arrival = Arrival(isChunked: false)
        for chunk in self.chunks {
            at += max(0, chunk.after.milliseconds)
            arrival.pieces.append(Arrival.Piece(at: at, size: chunk.data.count))
        }
        let ending: ReadyAnswer.Ending =
            switch self.ending {
            case .end: .end
            case .failure(let failure): .failed(failure)
            case .hang: .hang
            }
        return ReadyAnswer(
            interim: self.interim.map { ReadyAnswer.Interim(status: $0.status, headers: $0.headers, at: begin) }, head: head,
            content: .pieces(self.chunks.map(\.data)), trailers: self.trailers, arrival: arrival,
            times: RecordedTimes(head: begin, end: begin + at), ending: ending)
    }
}
