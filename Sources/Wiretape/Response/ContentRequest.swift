public import Dispatch
public import Foundation
public import TapeBytes

extension HTTPSession {
    /// A request that keeps its whole response, in memory or in a file, for serializers.
    ///
    /// ``HTTPSession/DataRequest`` and ``HTTPSession/DownloadRequest`` conform; an ``HTTPSession/StreamRequest`` keeps nothing.
    public protocol ContentRequest: Request {
        /// How the body is kept: as `Data`, or as the `URL` of a file.
        associatedtype Content: Sendable
        /// The type of its tasks' requests: for an upload, ``HTTPSession/DataRequest``.
        associatedtype TaskRequest: ContentRequest where TaskRequest.Content == Content

        /// Calls a handler with the unserialized response, after all handlers added before it, or at once if the request has ended.
        @discardableResult
        func response(
            queue: DispatchQueue, completionHandler: @escaping @Sendable (ContentResponse<Content, Content?>) -> Void
        ) -> Self

        /// Calls a handler on `queue` with the value that a serializer makes of the response. The serializer runs on another queue.
        @discardableResult
        func response<Serializer: ResponseSerializer>(
            queue: DispatchQueue, responseSerializer: Serializer,
            completionHandler: @escaping @Sendable (ContentResponse<Content, Serializer.SerializedObject>) -> Void
        ) -> Self

        /// The value that a serializer makes of the response.
        ///
        /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
        func serializing<Serializer: ResponseSerializer>(
            _ serializer: Serializer, automaticallyCancelling: Bool
        ) -> ContentTask<TaskRequest, Serializer.SerializedObject>
    }
}

// Handlers for the serializers of the library.
extension HTTPSession.ContentRequest {
    /// The body, unchanged.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main, dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (HTTPSession.ContentResponse<Content, Data>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: HTTPSession.DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            completionHandler: completionHandler)
    }

    /// The body as text, in the given encoding or the one that the response names.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main, encoding: String.Encoding? = nil, dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPSession.Method> = [.head], emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (HTTPSession.ContentResponse<Content, String>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: HTTPSession.StringResponseSerializer(
                encoding: encoding, dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), completionHandler: completionHandler)
    }

    /// The body as a JSON value.
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main, dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (HTTPSession.ContentResponse<Content, JSONValue>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: HTTPSession.JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            completionHandler: completionHandler)
    }

    /// The body as a property list.
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue = .main, dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (HTTPSession.ContentResponse<Content, HTTPSession.PropertyListValue>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: HTTPSession.PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            completionHandler: completionHandler)
    }

    /// The body decoded as a type.
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, queue: DispatchQueue = .main, decoder: any HTTPSession.DataDecoder = JSONDecoder(),
        dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (HTTPSession.ContentResponse<Content, Value>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: HTTPSession.DecodableResponseSerializer(
                of: type, dataPreprocessor: dataPreprocessor, decoder: decoder, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), completionHandler: completionHandler)
    }
}

// Tasks for the serializers of the library.
extension HTTPSession.ContentRequest {
    /// The body, unchanged.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingData(
        dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> HTTPSession.ContentTask<TaskRequest, Data> {
        self.serializing(
            HTTPSession.DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            automaticallyCancelling: automaticallyCancelling)
    }

    /// The body as text, in the given encoding or the one that the response names.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingString(
        encoding: String.Encoding? = nil, dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPSession.Method> = [.head], emptyResponseCodes: Set<Int> = [204, 205],
        automaticallyCancelling: Bool = true
    ) -> HTTPSession.ContentTask<TaskRequest, String> {
        self.serializing(
            HTTPSession.StringResponseSerializer(
                encoding: encoding, dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), automaticallyCancelling: automaticallyCancelling)
    }

    /// The body as a JSON value.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingJSON(
        dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> HTTPSession.ContentTask<TaskRequest, JSONValue> {
        self.serializing(
            HTTPSession.JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            automaticallyCancelling: automaticallyCancelling)
    }

    /// The body as a property list.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingPropertyList(
        dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPSession.Method> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> HTTPSession.ContentTask<TaskRequest, HTTPSession.PropertyListValue> {
        self.serializing(
            HTTPSession.PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            automaticallyCancelling: automaticallyCancelling)
    }

    /// The body decoded as a type.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any HTTPSession.DataDecoder = JSONDecoder(),
        dataPreprocessor: any HTTPSession.DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPSession.Method> = [.head], emptyResponseCodes: Set<Int> = [204, 205],
        automaticallyCancelling: Bool = true
    ) -> HTTPSession.ContentTask<TaskRequest, Value> {
        self.serializing(
            HTTPSession.DecodableResponseSerializer(
                of: type, dataPreprocessor: dataPreprocessor, decoder: decoder, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), automaticallyCancelling: automaticallyCancelling)
    }
}
