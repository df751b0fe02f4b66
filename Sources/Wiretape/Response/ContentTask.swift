internal import TapeBytes

/// A request on its way, and the value that is made of its answer: once, however often it is asked for.
///
/// The request goes out when this is made; the serializer works in the task that asks.
public struct ContentTask<Source: ContentRequest, Value: Sendable>: Sendable {
    /// The request itself.
    public let request: Source
    private let cancelsAutomatically: Bool
    private let memo = AnswerMemo<ContentResponse<Source.Content, Value>>()
    private let serialize: @Sendable (RequestOutcome) -> ContentResponse<Source.Content, Value>

    init(
        _ request: Source, cancelsAutomatically: Bool,
        _ serialize: @escaping @Sendable (RequestOutcome) -> ContentResponse<Source.Content, Value>
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        self.serialize = serialize
        request.startForHandler()
    }

    /// The answer, how it came, and the value or the error. Cancelling the task that waits here cancels the request, unless it was asked not
    /// to; the response has the error then.
    public var response: ContentResponse<Source.Content, Value> {
        get async {
            await self.memo.answer { self.serialize(await self.request.outcome(cancelsAutomatically: self.cancelsAutomatically)) }
        }
    }

    public var result: Result<Value, WiretapeError> { get async { await self.response.result } }

    /// - Throws: `WiretapeError`
    public var value: Value { get async throws { try await self.response.result.get() } }

    public func resume() { self.request.resume() }
    public func suspend() { self.request.suspend() }
    public func cancel() { self.request.cancel() }
}

/// Makes an answer once, however many ask for it at the same time.
final class AnswerMemo<Answer: Sendable>: Sendable {
    private enum State {
        case none
        case making([CheckedContinuation<Answer, Never>])
        case made(Answer)
    }

    private let state = Guarded(State.none)

    /// - Parameter make: called by the first to ask.
    func answer(_ make: () async -> Answer) async -> Answer {
        let (made, isFirst) = self.state.withLock { state -> (Answer?, Bool) in
            switch state {
            case .none:
                state = .making([])
                return (nil, true)
            case .making: return (nil, false)
            case .made(let answer): return (answer, false)
            }
        }
        if let made { return made }
        guard isFirst else { return await self.wait() }
        let answer = await make()
        let waiters = self.state.withLock { state -> [CheckedContinuation<Answer, Never>] in
            defer { state = .made(answer) }
            if case .making(let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume(returning: answer) }
        return answer
    }

    private func wait() async -> Answer {
        await withCheckedContinuation { waiter in
            let made = self.state.withLock { state -> Answer? in
                switch state {
                case .made(let answer): return answer
                case .making(let waiters): state = .making(waiters + [waiter])
                case .none: state = .making([waiter])
                }
                return nil
            }
            if let made { waiter.resume(returning: made) }
        }
    }
}
