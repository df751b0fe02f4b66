public import Foundation
public import Wiretape

// Alamofire 5's names of what Wiretape has under another one. Whoever imports Alamofire too imports this module elsewhere.

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
public typealias DataResponse<Value: Sendable> = HTTPSession.DataResponse<Value>
public typealias DownloadResponse<Value: Sendable> = HTTPSession.DownloadResponse<Value>
public typealias AFDataResponse<Value: Sendable> = HTTPSession.DataResponse<Value>
public typealias AFDownloadResponse<Value: Sendable> = HTTPSession.DownloadResponse<Value>
public typealias AFResult<Value> = Result<Value, WiretapeError>
/// With other codes: a `switch` over Alamofire's cases has to be written anew.
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

public typealias ResponseSerializer = HTTPSession.ResponseSerializer
public typealias DataResponseSerializer = HTTPSession.DataResponseSerializer
public typealias StringResponseSerializer = HTTPSession.StringResponseSerializer
public typealias DecodableResponseSerializer<Value: Decodable & Sendable> = HTTPSession.DecodableResponseSerializer<Value>
/// Serializes to a `JSONValue`, whose `foundationObject` is what Alamofire's gives.
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

extension HTTPSession.Request {
    /// Alamofire 4's name.
    @discardableResult
    public func authenticate(user: String, password: String) -> Self { self.authenticate(username: user, password: password) }
}

extension HTTPSession {
    /// A session with what Alamofire's initializer takes. What it takes of a `URLSessionConfiguration` is in `configuration`.
    ///
    /// - Parameters:
    ///   - startRequestsImmediately: whether a request starts with its first handler; nil leaves it to the configuration, like the others.
    ///   - interceptor: after those of the configuration.
    ///   - eventMonitors: after those of the configuration.
    @_disfavoredOverload
    public convenience init(
        configuration: Configuration = Configuration(), startRequestsImmediately: Bool? = nil,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil, cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        var configuration = configuration
        if let startRequestsImmediately { configuration.startsRequestsImmediately = startRequestsImmediately }
        if let interceptor { configuration.interceptors.append(interceptor) }
        if let serverTrustManager { configuration.serverTrust = serverTrustManager }
        if let redirectHandler { configuration.redirectHandler = redirectHandler }
        if let cachedResponseHandler { configuration.cachedResponseHandler = cachedResponseHandler }
        configuration.eventMonitors += eventMonitors
        self.init(configuration: configuration)
    }

    /// A request whose response is given in the pieces it arrives in.
    public func streamRequest(
        _ url: any URLConvertible, method: Method = .get, headers: Headers? = nil,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        self.stream(url, method: method, headers: headers, interceptor: interceptor, requestModifier: requestModifier)
    }

    /// A request whose response is given in the pieces it arrives in.
    public func streamRequest(
        _ request: any URLRequestConvertible, interceptor: (any HTTPSession.RequestInterceptor)? = nil
    ) -> StreamRequest {
        self.stream(request, interceptor: interceptor)
    }
}
