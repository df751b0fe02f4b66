public import Dispatch
public import Foundation
internal import TapeBytes

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
