public import TapeBytes

extension HTTPSession {
    /// A running request and the value made of its response. The value is made once, however often it is read.
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

        /// The response, its metrics, and the value or the error. Cancelling any of the waiting tasks cancels the request, unless
        /// `automaticallyCancelling` is false. The response then has the error of the cancellation.
        public var response: ContentResponse<Source.Content, Value> {
            get async {
                // The response is large, so it is read here and not passed through the calls that wait for it.
                while true {
                    if let made = self.memo.made { return made }
                    guard self.cancelsAutomatically else {
                        await self.make()
                        continue
                    }
                    await withTaskCancellationHandler {
                        await self.make()
                    } onCancel: {
                        self.request.cancel()
                    }
                }
            }
        }

        private func make() async { await self.memo.make { self.serialize(await self.request.outcome()) } }

        public var result: Result<Value, WiretapeError> { get async { await self.response.result } }

        /// - Throws: `WiretapeError`
        // Not a typed error: with one, the compiler of Swift 6.3 hangs or crashes on a `do` whose `catch`es are not exhaustive, in code
        // that was written for the untyped error.
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
        case making([CheckedContinuation<Void, Never>])
        case made(Answer)
    }

    private let state = Guarded(State.none)

    /// Nil while there is none.
    var made: Answer? {
        self.state.withLock { state in
            guard case .made(let answer) = state else { return nil }
            return answer
        }
    }

    /// Returns when there is an answer.
    ///
    /// - Parameter make: called in the first task that asks.
    func make(_ make: () async -> Answer) async {
        let isFirst = self.state.withLock { state in
            guard case .none = state else { return false }
            state = .making([])
            return true
        }
        guard isFirst else { return await self.wait() }
        let answer = await make()
        let waiters = self.state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .made(answer) }
            if case .making(let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume() }
    }

    private func wait() async {
        await withCheckedContinuation { waiter in
            let isMade = self.state.withLock { state in
                switch state {
                case .made: return true
                case .making(let waiters): state = .making(waiters + [waiter])
                case .none: state = .making([waiter])
                }
                return false
            }
            if isMade { waiter.resume() }
        }
    }
}
