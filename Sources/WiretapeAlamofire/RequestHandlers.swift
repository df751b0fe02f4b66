public import Dispatch
public import Foundation
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// Alamofire's handlers for requests, where they differ from Wiretape's.

extension HTTPSession.Request {
    /// Alamofire 4's name.
    @discardableResult
    public func authenticate(user: String, password: String) -> Self { self.authenticate(username: user, password: password) }

    /// Sends a credential's user and password with the first attempt, without waiting for a challenge.
    ///
    /// A credential without them, such as a client certificate, fails the request: use `clientCredential` of the configuration instead.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        guard let user = credential.user, let password = credential.password else {
            self.fail(
                AFError(
                    .invalidRequest,
                    "the credential has no user and password to send: set a certificate as clientCredential of the session's configuration")
            )
            return self
        }
        return self.authenticate(username: user, password: password)
    }

    /// A name that occurs only in Alamofire's documentation.
    @available(*, deprecated, renamed: "authenticate(with:)") @discardableResult
    public func authenticate(using credential: URLCredential) -> Self { self.authenticate(with: credential) }

    // MARK: Events

    /// Calls a closure with the request of each attempt, after the adapters.
    @discardableResult
    public func onURLRequestCreation(on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLRequest) -> Void) -> Self {
        self.observe { if case .started(let request) = $0 { queue.async { handler(URLRequest(request)) } } }
        return self
    }

    @available(
        *, unavailable, message: "requests have no URLSessionTask, since a replay has none; use onURLRequestCreation or an EventMonitor"
    )
    @discardableResult
    public func onURLSessionTaskCreation(on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (URLSessionTask) -> Void)
        -> Self
    { self }

    /// Calls a closure with the curl command of each attempt, with secrets redacted.
    @discardableResult
    public func cURLDescription(on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void) -> Self {
        self.observe {
            guard case .started(let request) = $0 else { return }
            queue.async { handler(HTTPSession.CurlDescription(request).description) }
        }
        return self
    }

    /// The same, on a queue of its own.
    @discardableResult
    public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
        self.cURLDescription(on: DispatchQueue(label: "wiretape.curl"), calling: handler)
    }

    /// The curl command of each attempt, until the request ends.
    public func cURLDescriptions() -> AsyncStream<String> {
        self.events { if case .started(let request) = $0 { HTTPSession.CurlDescription(request).description } else { nil } }
    }

    /// The request of each attempt, until the request ends.
    public func urlRequests() -> AsyncStream<URLRequest> {
        self.events { if case .started(let request) = $0 { URLRequest(request) } else { nil } }
    }

    /// The response of each attempt, until the request ends. Redirects are included.
    public func httpResponses() -> AsyncStream<HTTPURLResponse> {
        self.events { if case .transport(.head(let response)) = $0 { response.httpURLResponse } else { nil } }
    }

    private func events<Value: Sendable>(_ value: @escaping @Sendable (HTTPSession.Event.Kind) -> Value?) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(64))
        self.observe { event in
            if let value = value(event) { continuation.yield(value) }
            if case .finished = event { continuation.finish() }
        }
        return stream
    }

    /// Calls a closure with the head of the response, before any of the body.
    @_disfavoredOverload @discardableResult
    public func onHTTPResponse(on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void) -> Self {
        self.onHTTPResponse { response in
            if let response = response.httpURLResponse { queue.async { handler(response) } }
            return .allow
        }
    }

    /// Calls a closure with the head of the response; `.cancel` cancels the request, although some of the body may have arrived by then.
    @_disfavoredOverload @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPURLResponse, _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self {
        self.onHTTPResponse { [weak self] response in
            guard let response = response.httpURLResponse else { return .allow }
            queue.async { [weak self] in handler(response) { [weak self] in if $0 == .cancel { self?.cancel() } } }
            return .allow
        }
    }

    /// The same with an `async` closure.
    @_disfavoredOverload @discardableResult
    public func onHTTPResponse(perform handler: @escaping @Sendable (HTTPURLResponse) async -> ResponseDisposition) -> Self {
        self.onHTTPResponse { [weak self] response in
            guard let response = response.httpURLResponse else { return .allow }
            Task { [weak self] in if await handler(response) == .cancel { self?.cancel() } }
            return .allow
        }
    }

    /// Fails the request if the result is a failure.
    ///
    /// - Parameter validation: gets the request as last sent and the response.
    @_disfavoredOverload @discardableResult
    public func validate(
        _ validation: @escaping @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse) -> Result<Void, any Error>
    ) -> Self {
        self.validate(HTTPSession.Validation { request, response, _ in try validation(request, try response.foundation()).get() })
    }

    @available(
        *, unavailable, message: "set cachedResponseHandler of the session or its configuration: URLSession asks once for each session"
    )
    @discardableResult
    public func cacheResponse(using handler: any CachedResponseHandler) -> Self { self }
}

extension HTTPSession.DataRequest {
    /// Fails the request if the result is a failure.
    ///
    /// - Parameter validation: gets the request as last sent, the response, and the body.
    @_disfavoredOverload @discardableResult
    public func validate(
        _ validation: @escaping @Sendable (_ request: URLRequest?, _ response: HTTPURLResponse, _ data: Data?) -> Result<Void, any Error>
    ) -> Self {
        self.validate(HTTPSession.Validation { request, response, data in try validation(request, try response.foundation(), data).get() })
    }

    @available(*, unavailable, message: "Combine is Apple's: use serializingDecodable(_:).value or an AsyncSequence")
    public func publishDecodable<Value: Decodable & Sendable>(type: Value.Type = Value.self) -> HTTPSession.DataTask<Value> {
        self.serializingDecodable(type)
    }
}

extension HTTPSession.DownloadRequest {
    public static func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory, in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        let folder = FileManager.default.urls(for: directory, in: domain).first ?? FileManager.default.temporaryDirectory
        return self.suggestedDownloadDestination(in: folder, options: options)
    }

    /// The URL of the file.
    public func serializingURL(automaticallyCancelling: Bool = true) -> HTTPSession.DownloadTask<URL> {
        self.serializingDownloadedFileURL(automaticallyCancelling: automaticallyCancelling)
    }
}

extension HTTPSession {
    /// Cancels the requests that have started and not ended, and calls a closure when all have ended.
    public func cancelAllRequests(completingOn queue: DispatchQueue = .main, completion: @escaping @Sendable () -> Void) {
        self.cancelAllRequests()
        Task {
            await self.waitUntilIdle()
            queue.async { completion() }
        }
    }

    /// Uploads a file that may be missing, for example in a bundle: nil fails the request.
    @_disfavoredOverload
    public func upload(
        _ file: URL?, to url: any URLConvertible, method: Method = .post, headers: Headers? = nil,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil
    ) -> DataRequest {
        guard let file else {
            return self.request(
                FailedRequest(error: AFError(.file, "there is no file to upload: its URL is nil; check its name in the bundle")))
        }
        return self.upload(file, to: url, method: method, headers: headers, interceptor: interceptor)
    }
}

/// A request that could not be created.
private struct FailedRequest: HTTPSession.URLRequestConvertible {
    let error: AFError

    func asURLRequest() throws -> URLRequest { throw self.error }
}

extension HTTPSession.Response {
    public var statusCode: Int { self.status }
    /// The fields as Foundation joins them; `headers` has them as they arrived.
    public var allHeaderFields: [AnyHashable: Any] { self.httpURLResponse?.allHeaderFields ?? [:] }

    func foundation() throws(AFError) -> HTTPURLResponse {
        if let response = self.httpURLResponse { return response }
        throw AFError(.validation, "Foundation makes no response of status \(self.status): validate it with Wiretape's closure")
    }
}
