internal import CassetteModel
internal import CassettePlayback
internal import TapeBytes

/// Replays responses from a cassette, without the network or `URLSession`.
///
/// Without latency the whole response is delivered before `start` returns, except bodies of more than 256 KiB, which are read while they
/// are delivered. A response is delivered as a client sees it, whether a client or the proxy has recorded it: header fields as received,
/// Content-Encoding and Content-Length included, and the body without its codings, in the pieces in which it arrived. The arrival of
/// decoded bytes is unknown: each piece then gets the same share of the content as it had of the coded bytes. A response that was cut
/// delivers the part that had arrived, and then fails with the kind `truncated`.
public struct ReplayTransport: Transport, WebSocketTransport {
    public let cassette: Cassette
    private let clock: any Clock<Duration>

    /// - Parameter clock: measures the cassette's latency.
    public init(_ cassette: Cassette, clock: any Clock<Duration> = ContinuousClock()) {
        self.cassette = cassette
        self.clock = clock
    }

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        if let failure = self.cassette.admit() {
            _ = receive(.failed(failure))
            return FinishedTask.shared
        }
        switch self.cassette.decider.begin(request) {
        case .decided(let decision): return self.follow(decision, request, receive)
        case .undecided(let pending):
            return DeferredTask(receive: receive) {
                let decision = self.cassette.decider.decide(pending, request)
                return DeferredTask.Prepared { self.follow(decision, request, receive) }
            }
        }
    }

    public func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        switch try await self.cassette.socket(request, protocols: protocols, clock: self.clock) {
        case .replay(let socket): return socket
        case .forward: throw self.unsupported(request)
        }
    }

    private func follow(
        _ decision: RequestDecision, _ request: TransportRequest, _ receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        switch decision {
        case .replay(let index, let form):
            request.ruled?.answers(with: index)
            if let player = self.cassette.player { return player.play(index, form, for: request, clock: self.clock, receive: receive) }
            _ = receive(.failed(self.unsupported(request)))
        case .forward: _ = receive(.failed(self.unsupported(request)))
        case .refuse(let failure): _ = receive(.failed(failure))
        }
        return FinishedTask.shared
    }

    private func unsupported(_ request: TransportRequest) -> TransportFailure {
        TransportFailure(
            .unsupported,
            "\(request.method) \"\(LogURL.text(request.url))\" would go to the network, since the cassette \"\(self.cassette.path)\" is open with mode .\(self.cassette.mode): send it through a RecordingTransport, or open the cassette with mode .none."
        )
    }
}

/// Delivers recorded responses, synchronously if possible.
final class ReplayPlayer: Sendable {
    private let library: AnswerLibrary
    private let session: CassetteSession
    private let latency: Latency

    init(_ library: AnswerLibrary, session: CassetteSession, latency: Latency) {
        self.library = library
        self.session = session
        self.latency = latency
    }

    /// Before it returns, delivers everything that needs neither time nor the disk.
    ///
    /// - Parameter clock: measures the latency.
    func play(
        _ index: Int, _ form: AnswerForm = .recorded, for request: TransportRequest, clock: any Clock<Duration>,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        // Latency counts from here.
        let watch = self.latency == .none ? nil : ElapsedClock(clock)
        let answer: ReadyAnswer
        do {
            answer = try self.library.answer(index, form)
        } catch {
            _ = receive(.failed(self.unserved(index, error)))
            return FinishedTask.shared
        }
        let script = ReplayScript(answer, request: request, latency: self.latency)
        return Self.deliver(script, of: index, by: self, watch: watch, isInline: !answer.isStreamed, receive: receive)
    }

    /// - Parameters:
    ///   - player: nil if the whole response is in memory.
    ///   - isInline: whether nothing has to be read from the disk.
    static func deliver(
        _ script: ReplayScript, of index: Int = 0, by player: ReplayPlayer?, watch: ElapsedClock?, isInline: Bool,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        var script = script
        var wasPaused = false
        if watch == nil, isInline {
            steps: while true {
                switch script.next(now: .infinity) {
                case .emit(let event):
                    wasPaused = receive(event) == .pause && !event.isLast
                    if wasPaused { break steps }
                case .over: return FinishedTask.shared
                case .wait, .read, .hang: break steps
                }
            }
        }
        let task = ReplayTask(script, of: index, player: player, watch: watch, isPaused: true, receive: receive)
        if !wasPaused { task.resume() }
        return task
    }

    /// The recorded response that opened a WebSocket. Keeps the subprotocol only if the client now offers it. May wait for the disk.
    func opening(_ index: Int, of request: TransportRequest, protocols: [String]) throws(CassetteError) -> HTTPSession.Response {
        var head = try self.library.opening(index, of: request.url)
        if let chosen = head.headers.value(for: "Sec-WebSocket-Protocol"), !protocols.contains(chosen) {
            head.headers.remove(name: "Sec-WebSocket-Protocol")
        }
        return head
    }

    func open(_ answer: ReadyAnswer) throws(CassetteError) -> ContentStream? {
        guard case .stream(let body) = answer.content else { return nil }
        return try self.library.open(body, of: answer)
    }

    /// Reports that a chosen response cannot be replayed as it was recorded.
    func unserved(_ index: Int, _ error: any Error) -> TransportFailure {
        // The body was recorded in this state: the client fails as the recorded one did.
        if let failure = error as? TransportFailure { return failure }
        let problem = (error as? CassetteError)?.message ?? "\(error)"
        self.session.couldNotServe(index, problem: problem)
        let answer = UnservedAnswer(index: index, problem: problem)
        return TransportFailure(.unserved(answer), answer.description, cause: error)
    }
}
