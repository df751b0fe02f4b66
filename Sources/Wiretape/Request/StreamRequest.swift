public import Dispatch
public import Foundation
public import TapeBytes

extension HTTPSession {
    /// A request whose response is delivered as it arrives. Only bytes that were not read yet are in memory, up to a limit.
    // SAFETY: see Request; whatever is stored here is constant, or behind a lock.
    public final class StreamRequest: Request, @unchecked Sendable {
        let hub: StreamHub
        private let errorCancels = Guarded(false)

        /// Whether the request ends if a handler's value cannot be made. For modules whose handlers have such values.
        package var cancelsOnStreamError: Bool {
            get { self.errorCancels.withLock { $0 } }
            set { self.errorCancels.withLock { $0 = newValue } }
        }

        init(core: SessionCore, source: RequestSource, interceptor: (any RequestInterceptor)?) {
            self.hub = StreamHub()
            super.init(core: core, source: source, interceptor: interceptor, sink: .stream(self.hub))
        }
    }
}

extension HTTPSession.StreamRequest {
    /// The chunks of the response as they arrive. The request is sent when the first one is read.
    public var bytes: HTTPSession.StreamRequest.Chunks { HTTPSession.StreamRequest.Chunks(request: self) }

    /// The lines of the response.
    public var lines: HTTPSession.StreamRequest.Lines { HTTPSession.StreamRequest.Lines(request: self) }

    /// The server-sent events of the response.
    public var events: HTTPSession.StreamRequest.ServerSentEvents { HTTPSession.StreamRequest.ServerSentEvents(request: self) }

    /// A value for each line that is not blank.
    public func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any HTTPSession.DataDecoder = JSONDecoder()
    ) -> HTTPSession.StreamRequest.DecodedLines<Value> {
        HTTPSession.StreamRequest.DecodedLines(request: self, decoder: decoder)
    }
}

extension HTTPSession.StreamRequest {
    /// Calls a handler with each chunk, in order, and then with the completion: on the queue, one call at a time.
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping @Sendable (HTTPSession.StreamRequest.Event<Data>) -> Void
    ) -> Self {
        self.read(on: queue) {
            stream(.value($0))
        } completion: {
            stream(.complete($0))
        }
    }

    /// Calls a handler with each line, as in `lines`, and then with the completion.
    @discardableResult
    public func responseStreamLines(
        on queue: DispatchQueue = .main, stream: @escaping @Sendable (HTTPSession.StreamRequest.Event<String>) -> Void
    ) -> Self {
        let splitter = Guarded(LineSplitter())
        return self.read(on: queue) { chunk in
            for line in try splitter.withLock({ try $0.push(chunk) }) { stream(.value(String(decoding: line, as: UTF8.self))) }
        } completion: { completion in
            if completion.error == nil, let line = splitter.withLock({ $0.finish() }) {
                stream(.value(String(decoding: line, as: UTF8.self)))
            }
            stream(.complete(completion))
        }
    }

    /// Calls a handler with the value of each line that is not blank, and then with the completion.
    @discardableResult
    public func responseStreamDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, on queue: DispatchQueue = .main, using decoder: any HTTPSession.DataDecoder = JSONDecoder(),
        stream: @escaping @Sendable (HTTPSession.StreamRequest.Event<Result<Value, WiretapeError>>) -> Void
    ) -> Self {
        self.responseStreamLines(on: queue) { event in
            switch event {
            case .value(let line) where line.allSatisfy(\.isWhitespace): break
            case .value(let line):
                stream(
                    .value(
                        Result { try decoder.decode(Value.self, from: Data(line.utf8)) }.mapError {
                            WiretapeError(
                                .serialization,
                                "could not decode \"\(Value.self)\" from a line of the response: look at it with lines (\($0))",
                                cause: $0)
                        }))
            case .complete(let completion): stream(.complete(completion))
            }
        }
    }

    /// - Parameter chunk: an error that it throws ends the request.
    package func read(
        on queue: DispatchQueue, chunk: @escaping @Sendable (Data) throws -> Void,
        completion: @escaping @Sendable (HTTPSession.StreamRequest.Completion) -> Void
    ) -> Self {
        self.hub.join { [weak self] reader in
            // A running request stays alive, and the caller of the pump holds it.
            guard let self else { return }
            queue.async { self.withItsCassette { self.pump(reader, chunk, completion) } }
        }
        self.startForHandler()
        return self
    }

    private func pump(
        _ reader: Int, _ chunk: (Data) throws -> Void, _ completion: @escaping @Sendable (HTTPSession.StreamRequest.Completion) -> Void
    ) {
        var isBroken = false
        while true {
            switch self.hub.take(reader) {
            case .wait: return self.hub.pumped(reader, isDone: false)
            case .end:
                self.hub.pumped(reader, isDone: true)
                if let outcome = self.data.withLock({ $0.outcome }) { completion(HTTPSession.StreamRequest.Completion(outcome)) }
                return
            case .chunk(let data):
                self.demandMore()
                guard !isBroken else { break }
                do {
                    try chunk(data)
                } catch {
                    isBroken = true
                    self.finish(WiretapeError(error, as: .stream))
                }
            }
        }
    }
}

extension HTTPSession.StreamRequest {
    /// The argument of a stream's handler.
    public enum Event<Value: Sendable>: Sendable {
        case value(Value)
        /// The last call, exactly once.
        case complete(Completion)
    }

    /// How a streamed request ended.
    public struct Completion: Sendable {
        /// The last request sent; nil if none was sent.
        public var request: TransportRequest?
        /// Nil if none arrived.
        public var response: HTTPSession.Response?
        public var trailers: HTTPSession.Headers
        public var metrics: RequestMetrics
        /// Nil if the response is complete.
        public var error: WiretapeError?

        init(_ outcome: RequestOutcome) {
            self.request = outcome.last.request
            self.response = outcome.last.response
            self.trailers = outcome.trailers
            self.metrics = outcome.metrics
            self.error = outcome.error
        }
    }

    /// The chunks of a response as the transport delivers them, neither split nor joined.
    ///
    /// Only one loop can read it. Leaving the loop before the end cancels the request if it has no other reader. Cancelling the task also
    /// cancels the request.
    public struct Chunks: AsyncSequence, Sendable {
        public typealias Element = Data

        let request: HTTPSession.StreamRequest

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamReader(self.request)) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private let reader: StreamReader

            init(_ reader: StreamReader) { self.reader = reader }

            /// - Throws: `WiretapeError`
            public mutating func next() async throws -> Data? { try await self.reader.next() }
        }
    }
}

/// The reader of a stream for one sequence. Cancels the request when it is released, if it was the last reader.
final class StreamReader: Sendable {
    private let request: HTTPSession.StreamRequest
    private let id = Guarded<Int?>(nil)

    init(_ request: HTTPSession.StreamRequest) { self.request = request }

    deinit {
        guard let id = self.id.withLock({ $0 }) else { return }
        if self.request.hub.leave(id) == 0 { self.request.cancel() } else { self.request.demandMore() }
    }

    /// The first call joins the readers and starts the request.
    func next() async throws -> Data? {
        let reader = try self.id.withLock { id in
            if let id { return id }
            let new = try self.request.hub.join()
            id = new
            return new
        }
        self.request.startForHandler()
        switch self.request.hub.take(reader) {
        case .chunk(let chunk):
            self.request.demandMore()
            return chunk
        case .end(let error):
            if let error { throw error }
            return nil
        case .wait: break
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { self.request.hub.wait(reader, $0) }
        } onCancel: {
            self.request.cancel()
        }
    }
}
