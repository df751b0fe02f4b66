internal import CassettePlayback
internal import TapeBytes

/// Answers of this process's own: by a closure, one after the other, or by rules.
///
/// Keeps what it was asked. An answer that takes no time comes before `start` returns.
public final class StubTransport: Transport {
    /// Answers the requests that it fits.
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
        ///   - method: nil for any.
        ///   - path: of the URL, percent-decoded; nil for any.
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

    /// - Parameter clock: on which delays are waited for.
    public convenience init(
        clock: any Clock<Duration> = ContinuousClock(), _ respond: @escaping @Sendable (TransportRequest) -> StubResponse
    ) {
        self.init(clock: clock, numbered: { request, _ in respond(request) })
    }

    /// Answers in this order; further requests fail.
    public convenience init(_ responses: [StubResponse], clock: any Clock<Duration> = ContinuousClock()) {
        self.init(
            clock: clock,
            numbered: { request, number in
                guard number >= responses.count else { return responses[number] }
                return Self.nothing(
                    "request \(number + 1), \(Self.name(request)), has no answer: give the stub more than \(responses.count).")
            })
    }

    /// The first rule that fits answers; other requests fail.
    public convenience init(rules: [Rule], clock: any Clock<Duration> = ContinuousClock()) {
        self.init(
            clock: clock,
            numbered: { request, _ in
                guard let rule = rules.first(where: { $0.matches(request) }) else {
                    return Self.nothing("no rule of the stub fits \(Self.name(request)): add one.")
                }
                return rule.respond(request)
            })
    }

    private static func name(_ request: TransportRequest) -> String { "\(request.method) \"\(RequestDecider.url(of: request))\"" }

    private static func nothing(_ problem: String) -> StubResponse {
        let failure = TransportFailure(.unserved(UnservedAnswer(index: nil, problem: problem)), problem)
        return StubResponse(status: nil, ending: .failure(failure))
    }

    /// What was asked so far, in the order of `start`.
    public var requests: [TransportRequest] { self.asked.withLock { $0 } }

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        let number = self.asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        let response = self.respond(request, number)
        let script = ReplayScript(
            response.answer(to: request.url), request: request, latency: response.isImmediate ? .none : .scaled(1))
        return ReplayPlayer.give(
            script, by: nil, watch: response.isImmediate ? nil : ReplayClock(self.clock), isInline: true, receive: receive)
    }
}
