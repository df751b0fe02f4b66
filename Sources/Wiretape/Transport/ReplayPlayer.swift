internal import CassetteModel
internal import CassettePlayback

/// Gives recorded answers, at once where that can be.
final class ReplayPlayer: Sendable {
    private let library: AnswerLibrary
    private let session: CassetteSession
    private let latency: Latency

    init(_ library: AnswerLibrary, session: CassetteSession, latency: Latency) {
        self.library = library
        self.session = session
        self.latency = latency
    }

    /// Delivers before it returns what neither waits nor lies on the disk.
    ///
    /// - Parameter clock: of the latency.
    func play(
        _ index: Int, for request: TransportRequest, clock: any Clock<Duration>,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) -> any TransportTask {
        // Where there is latency it counts from here.
        let watch = self.latency == .none ? nil : ReplayClock(clock)
        let answer: ReadyAnswer
        do {
            answer = try self.library.answer(index)
        } catch {
            _ = receive(.failed(self.unserved(index, error)))
            return FinishedTask.shared
        }
        let script = ReplayScript(answer, request: request, latency: self.latency)
        return Self.give(script, of: index, by: self, watch: watch, isInline: !answer.isStreamed, receive: receive)
    }

    /// - Parameters:
    ///   - player: nil for an answer that lies in memory.
    ///   - isInline: whether nothing is read on the way.
    static func give(
        _ script: ReplayScript, of index: Int = 0, by player: ReplayPlayer?, watch: ReplayClock?, isInline: Bool,
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

    func open(_ answer: ReadyAnswer) throws(CassetteError) -> ContentStream? {
        guard case .stream(let body) = answer.content else { return nil }
        return try self.library.open(body, of: answer)
    }

    /// Takes note that a chosen answer cannot be given as it was recorded.
    func unserved(_ index: Int, _ error: any Error) -> TransportFailure {
        // What a coding hides is as it was recorded: the client fails as the recorded one did.
        if let failure = error as? TransportFailure { return failure }
        let problem = (error as? CassetteError)?.message ?? "\(error)"
        self.session.couldNotServe(index, problem: problem)
        let answer = UnservedAnswer(index: index, problem: problem)
        return TransportFailure(.unserved(answer), answer.description, underlying: error)
    }
}
