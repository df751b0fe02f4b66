public import Dispatch
public import Foundation
internal import TapeBytes

/// A request whose answer is handed on as it comes: memory holds no more than readers leave unread, up to a limit.
// SAFETY: see Request; nothing but a constant is stored here.
public final class StreamRequest: Request, @unchecked Sendable {
    let hub: StreamHub

    init(core: SessionCore, source: RequestSource, interceptor: (any RequestInterceptor)?) {
        self.hub = StreamHub()
        super.init(core: core, source: source, interceptor: interceptor, sink: .stream(self.hub))
    }
}

extension StreamRequest {
    /// The chunks of the answer as they come. The request goes out when they are first asked for.
    public var bytes: StreamChunks { StreamChunks(request: self) }

    /// The lines of the answer.
    public var lines: StreamLines { StreamLines(request: self) }

    /// The server-sent events of the answer.
    public var events: ServerSentEvents { ServerSentEvents(request: self) }

    /// A value for each line that is not blank.
    public func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder()
    ) -> DecodedLines<Value> {
        DecodedLines(request: self, decoder: decoder)
    }
}

/// The lines of an answer, without their ends: LF, CRLF or CR. What is not UTF-8 shows as replacement characters (U+FFFD).
///
/// Read by one loop, as `StreamChunks`. A last line needs no end.
public struct StreamLines: AsyncSequence, Sendable {
    public typealias Element = String

    let request: StreamRequest

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamSeat(self.request)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var octets: LineOctets

        init(_ seat: StreamSeat) { self.octets = LineOctets(seat) }

        /// - Throws: `WiretapeError`, also for a line of more than 16 MiB.
        public mutating func next() async throws -> String? {
            try await self.octets.next(keepsLast: true).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// The values of an answer with one on each line, as newline-delimited JSON has them. Blank lines are passed over.
///
/// Read by one loop, as `StreamChunks`. A line that is no value ends it with an error.
public struct DecodedLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value

    let request: StreamRequest
    let decoder: any DataDecoder

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamSeat(self.request), self.decoder) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var lines: LineOctets
        private let decoder: any DataDecoder
        private var number = 0

        init(_ seat: StreamSeat, _ decoder: any DataDecoder) {
            self.lines = LineOctets(seat)
            self.decoder = decoder
        }

        /// - Throws: `WiretapeError`; with the code `serialization` for a line that is no value.
        public mutating func next() async throws -> Value? {
            while let line = try await self.lines.next(keepsLast: true) {
                self.number += 1
                guard line.contains(where: { $0 != 32 && $0 != 9 }) else { continue }
                do {
                    return try self.decoder.decode(Value.self, from: Data(line))
                } catch {
                    throw WiretapeError(
                        .serialization, "line \(self.number) of the answer is no \"\(Value.self)\": look at it with lines (\(error))",
                        underlying: error)
                }
            }
            return nil
        }
    }
}

extension StreamRequest {
    /// Calls a handler with each chunk, in order, and then with the completion: on that queue, never two calls at a time.
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping @Sendable (StreamEvent<Data>) -> Void
    ) -> Self {
        self.read(on: queue) {
            stream(.value($0))
        } completion: {
            stream(.complete($0))
        }
    }

    /// Calls a handler with each line, as `lines` has them, and then with the completion.
    @discardableResult
    public func responseStreamLines(
        on queue: DispatchQueue = .main, stream: @escaping @Sendable (StreamEvent<String>) -> Void
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
        of type: Value.Type = Value.self, on queue: DispatchQueue = .main, using decoder: any DataDecoder = JSONDecoder(),
        stream: @escaping @Sendable (StreamEvent<Result<Value, WiretapeError>>) -> Void
    ) -> Self {
        self.responseStreamLines(on: queue) { event in
            switch event {
            case .value(let line) where line.allSatisfy(\.isWhitespace): break
            case .value(let line):
                stream(
                    .value(
                        Result { try decoder.decode(Value.self, from: Data(line.utf8)) }.mapError {
                            WiretapeError(
                                .serialization, "a line of the answer is no \"\(Value.self)\": look at it with lines (\($0))",
                                underlying: $0)
                        }))
            case .complete(let completion): stream(.complete(completion))
            }
        }
    }

    /// - Parameter chunk: what it throws ends the request.
    private func read(
        on queue: DispatchQueue, chunk: @escaping @Sendable (Data) throws -> Void,
        completion: @escaping @Sendable (StreamCompletion) -> Void
    ) -> Self {
        self.hub.join { [weak self] reader in
            // The request is there as long as it runs, and whoever calls the pump has it.
            guard let self else { return }
            queue.async { self.withItsCassette { self.pump(reader, chunk, completion) } }
        }
        self.startForHandler()
        return self
    }

    private func pump(_ reader: Int, _ chunk: (Data) throws -> Void, _ completion: @escaping @Sendable (StreamCompletion) -> Void) {
        var isBroken = false
        while true {
            switch self.hub.take(reader) {
            case .wait: return self.hub.pumped(reader, isDone: false)
            case .end:
                self.hub.pumped(reader, isDone: true)
                if let outcome = self.data.withLock({ $0.outcome }) { completion(StreamCompletion(outcome)) }
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
