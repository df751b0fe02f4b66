public import Dispatch
public import Foundation
internal import TapeBytes
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Makes a value of each chunk of a streamed response, with Alamofire's signature.
public protocol DataStreamSerializer: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Parameter data: a chunk as it arrived, which may be part of a line or several lines.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// Decodes each chunk of a streamed response, which has to be a whole value. `responseStreamDecodable` of Wiretape decodes line by line.
public struct DecodableStreamSerializer<Value: Decodable & Sendable>: DataStreamSerializer {
    public let decoder: any DataDecoder
    public let dataPreprocessor: any DataPreprocessor

    public init(decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = .passthrough) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    public func serialize(_ data: Data) throws -> Value {
        try self.decoder.decode(Value.self, from: try self.dataPreprocessor.preprocess(data))
    }
}

extension HTTPSession.StreamRequest {
    /// The argument of Alamofire's handlers of a stream: an event, and a way to cancel.
    public struct Stream<Success: Sendable, Failure: Error>: Sendable {
        public enum Event: Sendable {
            case stream(Result<Success, Failure>)
            /// The last call, exactly once.
            case complete(Completion)
        }

        public let event: Event
        public let token: CancellationToken

        public var result: Result<Success, Failure>? { if case .stream(let result) = self.event { result } else { nil } }
        public var value: Success? { if case .success(let value)? = self.result { value } else { nil } }
        public var error: Failure? { if case .failure(let error)? = self.result { error } else { nil } }
        public var completion: Completion? { if case .complete(let completion) = self.event { completion } else { nil } }

        public func cancel() { self.token.cancel() }
    }

    /// Cancels a streamed request if it is still running.
    public struct CancellationToken: Sendable {
        private let request: WeakRequest

        init(_ request: HTTPSession.StreamRequest) { self.request = WeakRequest(request) }

        public func cancel() { self.request.value?.cancel() }
    }

    /// Called with each chunk and with the completion, on a queue and one call at a time. An error that it throws ends the request.
    public typealias Handler<Success: Sendable, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// Calls a handler with each chunk.
    @_disfavoredOverload @discardableResult
    public func responseStream(on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>) -> Self {
        self.deliver(on: queue, { .success($0) }, stream)
    }

    /// Calls a handler with the text of each chunk. Bytes that are not UTF-8, such as those of a split character, become U+FFFD.
    @discardableResult
    public func responseStreamString(on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>) -> Self {
        self.deliver(on: queue, { .success(String(decoding: $0, as: UTF8.self)) }, stream)
    }

    /// Calls a handler with the value that a serializer makes of each chunk.
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main, stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        self.deliver(
            on: queue,
            { chunk in
                Result { try serializer.serialize(chunk) }.mapError {
                    AFError(.serialization, "a chunk of the response could not be serialized: look at it with bytes (\($0))", cause: $0)
                }
            }, stream)
    }

    /// Calls a handler with the value of each chunk, as Alamofire does. Wiretape's own method, whose handler gets another type, decodes
    /// lines.
    @_disfavoredOverload @discardableResult
    public func responseStreamDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, on queue: DispatchQueue = .main, using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = .passthrough, stream: @escaping Handler<Value, AFError>
    ) -> Self {
        self.responseStream(
            using: DecodableStreamSerializer<Value>(decoder: decoder, dataPreprocessor: preprocessor), on: queue, stream: stream)
    }

    /// A name that occurs only in Alamofire's documentation.
    @available(*, deprecated, renamed: "responseStreamDecodable(of:on:using:preprocessor:stream:)") @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, on queue: DispatchQueue = .main, stream: @escaping Handler<Value, AFError>
    ) -> Self {
        self.responseStreamDecodable(of: type, on: queue, stream: stream)
    }

    @available(*, unavailable, message: "a stream of Foundation holds what nobody reads in memory; read \"bytes\" or \"lines\" instead")
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? { nil }

    private func deliver<Success, Failure>(
        on queue: DispatchQueue, _ serialize: @escaping @Sendable (Data) -> Result<Success, Failure>,
        _ handler: @escaping Handler<Success, Failure>
    ) -> Self {
        let token = CancellationToken(self)
        let cancels = self.cancelsOnStreamError
        // The response may have ended before a handler throws.
        let thrown = Guarded<AFError?>(nil)
        return self.read(on: queue) { chunk in
            let result = serialize(chunk)
            do {
                try handler(Stream(event: .stream(result), token: token))
            } catch {
                let error = AFError(.stream, "the request was ended by a handler of its stream, which threw \(error)", cause: error)
                thrown.withLock { $0 = error }
                throw error
            }
            guard cancels, case .failure = result else { return }
            let error = AFError(.cancelled, "the request was cancelled, since a chunk of its stream could not be serialized")
            thrown.withLock { $0 = error }
            throw error
        } completion: { completion in
            var completion = completion
            completion.error = completion.error ?? thrown.withLock { $0 }
            // The request has already ended, so an error has no effect.
            try? handler(Stream(event: .complete(completion), token: token))
        }
    }
}

/// Refers to a request without keeping it alive.
// SAFETY: the reference is set once; the runtime makes its reads atomic.
private final class WeakRequest: @unchecked Sendable {
    private(set) weak var value: HTTPSession.StreamRequest?

    init(_ value: HTTPSession.StreamRequest) { self.value = value }
}

// MARK: Async

extension HTTPSession.StreamRequest {
    /// Alamofire's name for the streams of a request.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}

/// The streams of a request. `bytes`, `lines` and `decoding` of the request hold less in memory.
public struct DataStreamTask: Sendable {
    public typealias Stream<Success: Sendable, Failure: Error> = DataStreamRequest.Stream<Success, Failure>

    let request: DataStreamRequest

    /// - Parameter automaticallyCancelling: whether the request is cancelled if the loop is left.
    public func streamingData(automaticallyCancelling: Bool = true) -> AsyncStream<Stream<Data, Never>> {
        self.stream(automaticallyCancelling) { handler in self.request.responseStream(on: Self.queue, stream: handler) }
    }

    public func streamingStrings(automaticallyCancelling: Bool = true) -> AsyncStream<Stream<String, Never>> {
        self.stream(automaticallyCancelling) { handler in self.request.responseStreamString(on: Self.queue, stream: handler) }
    }

    public func streamingDecodables<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, automaticallyCancelling: Bool = true
    ) -> AsyncStream<Stream<Value, AFError>> {
        self.streamingResponses(serializedUsing: DecodableStreamSerializer<Value>(), automaticallyCancelling: automaticallyCancelling)
    }

    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> AsyncStream<Stream<Serializer.SerializedObject, AFError>> {
        self.stream(automaticallyCancelling) { handler in
            self.request.responseStream(using: serializer, on: Self.queue, stream: handler)
        }
    }

    public func cancel() { self.request.cancel() }
    public func resume() { self.request.resume() }
    public func suspend() { self.request.suspend() }

    private static let queue = DispatchQueue(label: "wiretape.stream-task")

    private func stream<Success, Failure>(
        _ cancels: Bool, _ start: (@escaping DataStreamRequest.Handler<Success, Failure>) -> DataStreamRequest
    ) -> AsyncStream<Stream<Success, Failure>> {
        let (stream, continuation) = AsyncStream.makeStream(of: Stream<Success, Failure>.self)
        let request = self.request
        continuation.onTermination = { termination in
            if case .cancelled = termination, cancels { request.cancel() }
        }
        _ = start { stream in
            continuation.yield(stream)
            if case .complete = stream.event { continuation.finish() }
        }
        return stream
    }
}

extension HTTPSession {
    /// A request whose response is delivered in the pieces in which it arrives.
    ///
    /// - Parameter automaticallyCancelOnStreamError: whether a chunk that cannot be serialized ends the request.
    public func streamRequest(
        _ url: any URLConvertible, method: Method = .get, headers: Headers? = nil, automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        let request = self.stream(url, method: method, headers: headers, interceptor: interceptor, requestModifier: requestModifier)
        request.cancelsOnStreamError = automaticallyCancelOnStreamError
        return request
    }

    /// The same with parameters in the query or in the body, depending on the encoder and the method.
    public func streamRequest<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: Method = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: Headers? = nil,
        automaticallyCancelOnStreamError: Bool = false, interceptor: (any HTTPSession.RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        let request = self.stream(
            url, method: method, parameters: parameters, encoder: encoder, headers: headers, interceptor: interceptor,
            requestModifier: requestModifier)
        request.cancelsOnStreamError = automaticallyCancelOnStreamError
        return request
    }

    /// A request whose response is delivered in the pieces in which it arrives.
    public func streamRequest(
        _ request: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil
    ) -> StreamRequest {
        let request = self.stream(request, interceptor: interceptor)
        request.cancelsOnStreamError = automaticallyCancelOnStreamError
        return request
    }

    /// A name that occurs only in Alamofire's documentation.
    @available(*, deprecated, renamed: "streamRequest(_:)")
    public func dataStreamRequest(_ url: any URLConvertible) -> StreamRequest { self.streamRequest(url) }
}
