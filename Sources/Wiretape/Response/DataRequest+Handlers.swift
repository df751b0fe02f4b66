public import Dispatch
public import Foundation
public import TapeCore

extension DataRequest {
    /// Calls a handler with the answer as it is, behind all handlers that were added before; at once where the request is over.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DataResponse<Data?>) -> Void
    ) -> Self {
        self.add(
            queue,
            { outcome in
                DataResponse(
                    outcome, outcome.error.map { .failure($0) } ?? .success(outcome.last.response == nil ? nil : outcome.data),
                    outcome.metrics)
            },
            completionHandler)
        return self
    }

    /// The body as it is.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main, dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DataResponse<Data>) -> Void
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
        completionHandler: @escaping @Sendable (DataResponse<String>) -> Void
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
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DataResponse<JSONValue>) -> Void
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
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DataResponse<PropertyListValue>) -> Void
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
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (DataResponse<Value>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer(
                of: type, dataPreprocessor: dataPreprocessor, decoder: decoder, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), completionHandler: completionHandler)
    }

    /// What a serializer makes of the answer. It works off the queue; the handler is called on it.
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond($0, responseSerializer) }, completionHandler)
        return self
    }
}
