public import Dispatch
public import Foundation
public import TapeCore

extension DownloadRequest {
    /// Calls a handler with the answer as it is, behind all handlers that were added before; at once where the request is over.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL?>) -> Void
    ) -> Self {
        self.add(
            queue,
            { outcome in DownloadResponse(outcome, outcome.error.map { .failure($0) } ?? .success(outcome.fileURL), outcome.metrics) },
            completionHandler)
        return self
    }

    /// The body as it is.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main, dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DownloadResponse<Data>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            completionHandler: completionHandler)
    }

    /// The body as text, in the encoding given, or in the one that the answer names.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main, encoding: String.Encoding? = nil, dataPreprocessor: any DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPMethod> = [.head], emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (DownloadResponse<String>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: StringResponseSerializer(
                encoding: encoding, dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), completionHandler: completionHandler)
    }

    /// The body as a JSON value.
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main, dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DownloadResponse<JSONValue>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            completionHandler: completionHandler)
    }

    /// The body as a property list.
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue = .main, dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DownloadResponse<PropertyListValue>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            completionHandler: completionHandler)
    }

    /// The body decoded as a type.
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self, queue: DispatchQueue = .main, decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DownloadResponse<Value>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer(
                of: type, dataPreprocessor: dataPreprocessor, decoder: decoder, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), completionHandler: completionHandler)
    }

    /// Where the file is.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL>) -> Void
    ) -> Self {
        self.response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// What a serializer makes of the answer. It works off the queue; the handler is called on it.
    @discardableResult
    public func response<Serializer: DownloadResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond(download: $0, responseSerializer) }, completionHandler)
        return self
    }
}
