public import Foundation
public import TapeBytes

extension ContentRequest {
    /// The body as it is.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingData(
        dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> ContentTask<TaskRequest, Data> {
        self.serializing(
            DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            automaticallyCancelling: automaticallyCancelling)
    }

    /// The body as text, in the encoding given, or in the one that the answer names.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingString(
        encoding: String.Encoding? = nil, dataPreprocessor: any DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPMethod> = [.head], emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> ContentTask<TaskRequest, String> {
        self.serializing(
            StringResponseSerializer(
                encoding: encoding, dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), automaticallyCancelling: automaticallyCancelling)
    }

    /// The body as a JSON value.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingJSON(
        dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> ContentTask<TaskRequest, JSONValue> {
        self.serializing(
            JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            automaticallyCancelling: automaticallyCancelling)
    }

    /// The body as a property list.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingPropertyList(
        dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<HTTPMethod> = [.head],
        emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> ContentTask<TaskRequest, PropertyListValue> {
        self.serializing(
            PropertyListResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyRequestMethods: emptyRequestMethods, emptyResponseCodes: emptyResponseCodes),
            automaticallyCancelling: automaticallyCancelling)
    }

    /// The body decoded as a type.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder(), dataPreprocessor: any DataPreprocessor = .passthrough,
        emptyRequestMethods: Set<HTTPMethod> = [.head], emptyResponseCodes: Set<Int> = [204, 205], automaticallyCancelling: Bool = true
    ) -> ContentTask<TaskRequest, Value> {
        self.serializing(
            DecodableResponseSerializer(
                of: type, dataPreprocessor: dataPreprocessor, decoder: decoder, emptyRequestMethods: emptyRequestMethods,
                emptyResponseCodes: emptyResponseCodes), automaticallyCancelling: automaticallyCancelling)
    }
}
