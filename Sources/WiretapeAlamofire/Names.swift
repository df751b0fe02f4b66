public import Foundation
public import Wiretape

// Alamofire 5's names for types that Wiretape names differently. Import this module in other files than those that import Alamofire.

/// Requests without a session of their own, as with Alamofire: `AF.request(url)`.
public let AF = HTTPSession.default

public typealias Session = HTTPSession
/// Alamofire 4's name.
public typealias SessionManager = HTTPSession

public typealias Request = HTTPSession.Request
public typealias DataRequest = HTTPSession.DataRequest
/// An upload is a request with a body.
public typealias UploadRequest = HTTPSession.DataRequest
public typealias DownloadRequest = HTTPSession.DownloadRequest
public typealias DataStreamRequest = HTTPSession.StreamRequest
public typealias DataTask<Value: Sendable> = HTTPSession.DataTask<Value>
public typealias DownloadTask<Value: Sendable> = HTTPSession.DownloadTask<Value>
/// The error is always `AFError`; the second parameter exists for code that names it.
public typealias DataResponse<Value: Sendable, Failure: Error> = HTTPSession.DataResponse<Value>
/// The error is always `AFError`; the second parameter exists for code that names it.
public typealias DownloadResponse<Value: Sendable, Failure: Error> = HTTPSession.DownloadResponse<Value>
public typealias AFDataResponse<Value: Sendable> = HTTPSession.DataResponse<Value>
public typealias AFDownloadResponse<Value: Sendable> = HTTPSession.DownloadResponse<Value>
public typealias AFResult<Value> = Result<Value, WiretapeError>
/// Has other codes: a `switch` over Alamofire's cases has to be rewritten.
public typealias AFError = WiretapeError

public typealias HTTPMethod = HTTPSession.Method
public typealias HTTPHeader = HTTPSession.Header
public typealias HTTPHeaders = HTTPSession.Headers
public typealias URLConvertible = HTTPSession.URLConvertible
public typealias URLRequestConvertible = HTTPSession.URLRequestConvertible

public typealias MultipartFormData = FormData
public typealias ParameterEncoder = HTTPSession.ParameterEncoder
public typealias URLEncodedFormParameterEncoder = HTTPSession.URLEncodedFormParameterEncoder
public typealias URLEncodedFormEncoder = HTTPSession.URLEncodedFormEncoder
public typealias JSONParameterEncoder = HTTPSession.JSONParameterEncoder

public typealias DataResponseSerializer = HTTPSession.DataResponseSerializer
public typealias StringResponseSerializer = HTTPSession.StringResponseSerializer
public typealias DecodableResponseSerializer<Value: Decodable & Sendable> = HTTPSession.DecodableResponseSerializer<Value>
/// Serializes to a `JSONValue`, whose `foundationObject` is the value that Alamofire's serializer gives.
public typealias JSONResponseSerializer = HTTPSession.JSONResponseSerializer
public typealias URLResponseSerializer = HTTPSession.URLResponseSerializer
public typealias DataDecoder = HTTPSession.DataDecoder
public typealias DataPreprocessor = HTTPSession.DataPreprocessor
public typealias PassthroughPreprocessor = HTTPSession.PassthroughPreprocessor
public typealias GoogleXSSIPreprocessor = HTTPSession.GoogleXSSIPreprocessor
public typealias Empty = HTTPSession.Empty
public typealias EmptyResponse = HTTPSession.EmptyResponse

public typealias Interceptor = HTTPSession.Interceptor
public typealias RetryPolicy = HTTPSession.RetryPolicy
public typealias RetryResult = HTTPSession.RetryResult
public typealias AuthenticationInterceptor<A: HTTPSession.Authenticator> = HTTPSession.AuthenticationInterceptor<A>
public typealias AuthenticationCredential = HTTPSession.AuthenticationCredential
public typealias AuthenticationError = HTTPSession.AuthenticationError

public typealias RedirectHandler = HTTPSession.RedirectHandler
public typealias Redirector = HTTPSession.Redirector
public typealias CachedResponseHandler = HTTPSession.CachedResponseHandler
public typealias ResponseCacher = HTTPSession.ResponseCacher
public typealias ServerTrustManager = HTTPSession.ServerTrustManager
public typealias EventMonitor = HTTPSession.EventMonitor
public typealias ClosureEventMonitor = HTTPSession.ClosureEventMonitor
public typealias CompositeEventMonitor = HTTPSession.CompositeEventMonitor

extension HTTPSession.RetryResult {
    /// After a delay in seconds.
    public static func retryWithDelay(_ delay: TimeInterval) -> Self { .retryAfter(.seconds(delay)) }
}

extension HTTPSession.JSONParameterEncoder {
    /// With sorted keys, unlike Alamofire's, so that recordings are stable.
    public static var `default`: Self { Self() }
    public static var sortedKeys: Self { Self() }
    public static var prettyPrinted: Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return Self(encoder: encoder)
    }
}

extension HTTPSession.URLEncodedFormParameterEncoder {
    public static var `default`: Self { Self() }
}
