public import TapeBytes

extension HTTPSession {
    /// A running request and the value made of its response, once, however often it is read.
    ///
    /// Creating it starts the request; the serializer runs in the task that reads the value.
    public struct ContentTask<Source: ContentRequest, Value: Sendable>: Sendable {
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

        /// The response, its metrics, and the value or the error. Cancelling a waiting task, be it one of several, cancels the request, unless
        /// `automaticallyCancelling` is false; the response then has that error.
        public var response: ContentResponse<Source.Content, Value> {
            get async {
                guard self.cancelsAutomatically else { return await self.answer }
                return await withTaskCancellationHandler {
                    await self.answer
                } onCancel: {
                    self.request.cancel()
                }
            }
        }

        private var answer: ContentResponse<Source.Content, Value> {
            get async { await self.memo.answer { self.serialize(await self.request.outcome()) } }
        }

        public var result: Result<Value, WiretapeError> { get async { await self.response.result } }

        /// - Throws: `WiretapeError`
        // Not a typed error: with one the compiler of Swift 6.3 never ends, or crashes, on a `do` whose `catch`es are not exhaustive, in code that
        // was written for the untyped one.
        public var value: Value { get async throws { try await self.response.result.get() } }

        public func resume() { self.request.resume() }
        public func suspend() { self.request.suspend() }
        public func cancel() { self.request.cancel() }
    }

    /// A running request that collects its response in memory, and the value made of it.
    public typealias DataTask<Value: Sendable> = ContentTask<DataRequest, Value>

    /// A running download, and the value made of its file.
    public typealias DownloadTask<Value: Sendable> = ContentTask<DownloadRequest, Value>
}

/// Makes an answer once, however many tasks ask for it at the same time.
final class AnswerMemo<Answer: Sendable>: Sendable {
    private enum State {
        case none
        case making([CheckedContinuation<Answer, Never>])
        case made(Answer)
    }

    private let state = Guarded(State.none)

    /// - Parameter make: called in the first task that asks.
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
