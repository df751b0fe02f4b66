public import TapeBytes
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// Makes a value of a response's body.
    ///
    /// Does not know the source of the response: a replayed response gives the same value as the live one.
    public protocol ResponseSerializer<SerializedObject>: DownloadResponseSerializer {
        associatedtype SerializedObject

        /// Runs on the body before the serializer does.
        var dataPreprocessor: any DataPreprocessor { get }
        /// Methods whose responses may lack a body.
        var emptyRequestMethods: Set<Method> { get }
        /// Statuses whose responses may lack a body.
        var emptyResponseCodes: Set<Int> { get }

        /// - Parameters:
        ///   - request: as last sent; nil if none was sent.
        ///   - response: nil if none arrived.
        ///   - data: the whole body, decoded; nil or empty if there was none.
        ///   - error: the request's error; rethrown unchanged.
        /// - Throws: the request's error, `SerializationError`, or an error of the serializer.
        func serialize(request: URLRequest?, response: Response?, data: Data?, error: (any Error)?) throws -> SerializedObject
    }

    /// Makes a value of a downloaded file.
    public protocol DownloadResponseSerializer<SerializedObject>: Sendable {
        associatedtype SerializedObject: Sendable

        /// - Parameters:
        ///   - fileURL: the file with the body; nil if no body arrived.
        ///   - error: the request's error; rethrown unchanged.
        func serializeDownload(request: URLRequest?, response: Response?, fileURL: URL?, error: (any Error)?) throws -> SerializedObject
    }
}

extension HTTPSession.ResponseSerializer {
    public var dataPreprocessor: any HTTPSession.DataPreprocessor { .passthrough }
    /// HEAD, whose response never has a body (RFC 9110, 9.3.2).
    public var emptyRequestMethods: Set<HTTPSession.Method> { EmptyBodyRule.requestMethods }
    /// 204 and 205 (RFC 9110, 15.3.5 and 15.3.6).
    public var emptyResponseCodes: Set<Int> { EmptyBodyRule.responseCodes }

    /// The preprocessed body; nil if there is none and none is required.
    ///
    /// - Throws: `error` if there is one; `SerializationError` if a required body is missing.
    public func body(request: URLRequest?, response: HTTPSession.Response?, data: Data?, error: (any Error)?) throws -> Data? {
        if let error { throw error }
        if let data, !data.isEmpty { return try self.dataPreprocessor.preprocess(data) }
        try EmptyBodyRule(requestMethods: self.emptyRequestMethods, responseCodes: self.emptyResponseCodes)
            .check(method: request?.method, status: response?.status)
        return nil
    }

    public func serializeDownload(request: URLRequest?, response: HTTPSession.Response?, fileURL: URL?, error: (any Error)?) throws
        -> SerializedObject
    {
        if let error { throw error }
        let data: Data? = try fileURL.map { url in
            do {
                return try Data(contentsOf: url, options: .mappedIfSafe)
            } catch {
                throw SerializationError(
                    .unreadableFile, "the downloaded file \"\(url.path)\" cannot be read: keep it until it is serialized",
                    cause: error)
            }
        }
        return try self.serialize(request: request, response: response, data: data, error: nil)
    }
}

/// Decides whether a response may lack a body.
struct EmptyBodyRule: Sendable {
    static let requestMethods: Set<HTTPSession.Method> = [.head]
    static let responseCodes: Set<Int> = [204, 205]

    let requestMethods: Set<HTTPSession.Method>
    let responseCodes: Set<Int>

    func allows(method: HTTPSession.Method?, status: Int?) -> Bool {
        method.map(self.requestMethods.contains) ?? false || status.map(self.responseCodes.contains) ?? false
    }

    func check(method: HTTPSession.Method?, status: Int?) throws(SerializationError) {
        guard !self.allows(method: method, status: status) else { return }
        let what = "\(method.map { "\($0) " } ?? "")response\(status.map { " with the status \($0)" } ?? "")"
        throw SerializationError(
            .emptyBody,
            "the \(what) has no body: add the method to \"emptyRequestMethods\" or the status to \"emptyResponseCodes\" if that is expected"
        )
    }
}

extension HTTPSession {
    /// A type with a value for a response without a body.
    public protocol EmptyResponse: Sendable {
        static func emptyValue() -> Self
    }

    /// The value of a response without a body, or with a body that does not matter.
    public struct Empty: Codable, Sendable, Hashable, EmptyResponse {
        public static let value = Empty()

        public init() {}

        public static func emptyValue() -> Empty { self.value }
    }

    /// Changes a body before it is serialized.
    public protocol DataPreprocessor: Sendable {
        func preprocess(_ data: Data) throws -> Data
    }
}

extension HTTPSession.DataPreprocessor where Self == HTTPSession.PassthroughPreprocessor {
    public static var passthrough: HTTPSession.PassthroughPreprocessor { HTTPSession.PassthroughPreprocessor() }
}

extension HTTPSession.DataPreprocessor where Self == HTTPSession.GoogleXSSIPreprocessor {
    public static var googleXSSI: HTTPSession.GoogleXSSIPreprocessor { HTTPSession.GoogleXSSIPreprocessor() }
}

extension HTTPSession {
    /// Leaves a body unchanged.
    public struct PassthroughPreprocessor: DataPreprocessor {
        public init() {}

        public func preprocess(_ data: Data) -> Data { data }
    }

    /// Removes `)]}',` and the line end after it, the prefix that keeps browsers from running JSON of Google's services as a script.
    public struct GoogleXSSIPreprocessor: DataPreprocessor {
        private static let prefix = Data(")]}',\n".utf8)

        public init() {}

        public func preprocess(_ data: Data) -> Data { data.starts(with: Self.prefix) ? Data(data.dropFirst(Self.prefix.count)) : data }
    }
}

/// Why a serializer cannot make a value of a response's body.
///
/// The message says what the body is, what was expected, and what to do next. It never contains the body.
/// The cause is the error of a decoder.
public typealias SerializationError = CodedError<HTTPSession.SerializationErrorCode>

extension HTTPSession {
    /// A kind of error; more kinds may be added.
    public struct SerializationErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case emptyBody, notEmptiable, invalidText, unknownCharset, invalidJSON, invalidPropertyList, undecodable, unreadableFile
        }

        private var value: Value

        /// A required body is missing.
        public static var emptyBody: Self { Self(value: .emptyBody) }
        /// The body is missing, which is allowed, but the type has no empty value.
        public static var notEmptiable: Self { Self(value: .notEmptiable) }
        /// Bytes that are invalid in their charset.
        public static var invalidText: Self { Self(value: .invalidText) }
        public static var unknownCharset: Self { Self(value: .unknownCharset) }
        public static var invalidJSON: Self { Self(value: .invalidJSON) }
        public static var invalidPropertyList: Self { Self(value: .invalidPropertyList) }
        /// A decoder threw `cause`.
        public static var undecodable: Self { Self(value: .undecodable) }
        /// There is no downloaded file, or it cannot be read.
        public static var unreadableFile: Self { Self(value: .unreadableFile) }

        public var description: String { "\(self.value)" }
    }

    /// The body, unchanged; empty if there is none and none is required.
    public struct DataResponseSerializer: ResponseSerializer {
        public let dataPreprocessor: any DataPreprocessor
        public let emptyRequestMethods: Set<Method>
        public let emptyResponseCodes: Set<Int>

        public init(
            dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<Method> = [.head],
            emptyResponseCodes: Set<Int> = [204, 205]
        ) {
            self.dataPreprocessor = dataPreprocessor
            self.emptyRequestMethods = emptyRequestMethods
            self.emptyResponseCodes = emptyResponseCodes
        }

        public func serialize(request: URLRequest?, response: Response?, data: Data?, error: (any Error)?) throws -> Data {
            try self.body(request: request, response: response, data: data, error: error) ?? Data()
        }
    }
}

extension HTTPSession.DownloadResponseSerializer where Self == HTTPSession.DataResponseSerializer {
    public static var data: HTTPSession.DataResponseSerializer { HTTPSession.DataResponseSerializer() }
}

extension HTTPSession {
    /// The URL of the downloaded file.
    public struct URLResponseSerializer: DownloadResponseSerializer {
        public init() {}

        public func serializeDownload(request: URLRequest?, response: Response?, fileURL: URL?, error: (any Error)?) throws -> URL {
            if let error { throw error }
            guard let fileURL else {
                throw SerializationError(.unreadableFile, "nothing was downloaded: check the response's status")
            }
            return fileURL
        }
    }
}

extension HTTPSession.DownloadResponseSerializer where Self == HTTPSession.URLResponseSerializer {
    public static var url: HTTPSession.URLResponseSerializer { HTTPSession.URLResponseSerializer() }
}
