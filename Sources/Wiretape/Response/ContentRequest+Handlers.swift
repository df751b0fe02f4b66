public import Dispatch
public import Foundation
public import TapeBytes

extension ContentRequest {
    /// The body as it is.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main, dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (ContentResponse<Content, Data>) -> Void
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
        completionHandler: @escaping @Sendable (ContentResponse<Content, String>) -> Void
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
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (ContentResponse<Content, JSONValue>) -> Void
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
        emptyResponseCodes: Set<Int> = [204, 205],
        completionHandler: @escaping @Sendable (ContentResponse<Content, PropertyListValue>) -> Void
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
        emptyResponseCodes: Set<Int> = [204, 205], completionHandler: @escaping @Sendable (ContentResponse<Content, Value>) -> Void
    ) -> Self {
        self.response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer(
                of: type, dataPreprocessor: dataPreprocessor, decoder: decoder, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), completionHandler: completionHandler)
    }
}
