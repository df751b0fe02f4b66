public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Makes requests and sends them through one transport.
///
/// A request that is on its way comes to its end whether the session is kept or not. Sessions share nothing but what their configurations
/// share.
public final class Session: Sendable {
    /// With the default configuration, for programs with no wishes of their own.
    public static let `default` = Session()

    let core: SessionCore

    /// - Parameter transport: carries all requests, whose certificates are then its own affair: `configuration.serverTrust` and
    ///   `cachedResponseHandler` have no part in it. Nil takes that of `Cassette.current`, which is looked up when a request is made, and
    ///   where there is none the network, unless `WIRETAPE_OFFLINE` is set.
    public init(configuration: Configuration = Configuration(), transport: (any Transport)? = nil) {
        self.core = SessionCore(configuration, transport: transport)
    }

    /// All requests go through that cassette.
    public init(cassette: Cassette, configuration: Configuration = Configuration()) {
        self.core = SessionCore(configuration, cassette: cassette)
    }

    public var configuration: Configuration { self.core.configuration }

    // MARK: All requests

    /// Calls a closure with the requests that have started and are not over, in the order in which they started.
    public func withAllRequests(_ body: ([Request]) throws -> Void) rethrows { try body(self.core.activeRequests) }

    /// Cancels the requests that have started and are not over.
    public func cancelAllRequests() { self.core.cancelAll(.cancelled) }

    /// Returns when no request is on its way, as before a cassette is closed. Requests that start meanwhile are waited for too.
    public func waitUntilIdle() async { await self.core.waitUntilIdle() }
}

extension Session {
    /// What all requests of a session have in common.
    public struct Configuration: Sendable {
        /// Sent where a request says nothing else: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
        public var headers: HTTPHeaders = .default
        /// Where cookies are kept and taken from; nil for none. In memory and of this configuration alone if nothing else is said:
        /// `HTTPCookieStorage.shared` is a file on Linux.
        public var cookieStorage: HTTPCookieStorage? = URLSessionConfiguration.ephemeral.httpCookieStorage
        public var timeouts = Timeouts()
        /// Whether a request goes out with its first handler; else by `resume()` alone.
        public var startsRequestsImmediately = true
        /// In order, behind the request's own.
        public var interceptors: [any RequestInterceptor] = []
        /// Decides on redirects where a request has no handler of its own; nil follows them.
        public var redirectHandler: (any RedirectHandler)?
        /// Told what happens to each request.
        public var eventMonitors: [any EventMonitor] = []
        /// For timeouts, waits before retries and the timeline. Where answers are replayed, retries do not wait.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// Whose certificates are taken where a request goes to the network; nil for what the platform does by itself.
        ///
        /// For sessions that were given no transport: a `LiveTransport` has its own. A policy that the platform has no way to carry out fails
        /// the request before anything is sent.
        public var serverTrust: ServerTrustManager?
        /// Asked for each answer that URLSession would keep, with the shared cache; nil keeps none. As `serverTrust`, for sessions that were
        /// given no transport, and there for what goes into no cassette. On Linux URLSession keeps none and asks nobody.
        public var cachedResponseHandler: (any CachedResponseHandler)?
        /// For bodies that are spooled and downloads that are not there yet; nil for the system's.
        public var temporaryFolder: URL?
        /// Octets up to which a form is encoded in memory.
        public var multipartThreshold = MultipartFormData.memoryThreshold

        public init() {}
    }
}

extension Session {
    /// Changes a request that has been made, before adapters see it.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    // MARK: Data

    /// A request whose answer is collected in memory.
    public func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.plain(url, method, headers, requestModifier), interceptor)
    }

    /// A request with parameters: in the query, or in the body, as the encoder and the method say.
    public func request<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }, interceptor)
    }

    /// A request with a dictionary of parameters, as the encoding says.
    public func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?, encoding: any ParameterEncoding,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.encoded(url, method, headers, requestModifier) { try encoding.encode($0, with: parameters) }, interceptor)
    }

    /// A `URLRequest`, or what a router makes one of.
    public func request(_ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil) -> DataRequest {
        self.dataRequest(self.converted(request), interceptor)
    }

    // MARK: Download

    /// A request whose answer goes into a file; into the temporary folder, where it stays, if no destination is given.
    public func download(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(.plain(url, method, headers, requestModifier), interceptor, destination)
    }

    /// A download with parameters, as the encoder says.
    public func download<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(
            .encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }, interceptor, destination)
    }

    public func download(
        _ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(self.converted(request), interceptor, destination)
    }

    // MARK: Stream

    /// A request whose answer is handed on as it comes.
    public func stream(
        _ url: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        StreamRequest(core: self.core, source: .plain(url, method, headers, requestModifier), interceptor: interceptor)
    }

    /// A streamed request with parameters, as the encoder says.
    public func stream<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        StreamRequest(
            core: self.core, source: .encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) },
            interceptor: interceptor)
    }

    public func stream(_ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil) -> StreamRequest {
        StreamRequest(core: self.core, source: self.converted(request), interceptor: interceptor)
    }

    // MARK: Making

    private func dataRequest(_ source: RequestSource, _ interceptor: (any RequestInterceptor)?) -> DataRequest {
        DataRequest(core: self.core, source: source, interceptor: interceptor, sink: .memory)
    }

    private func downloadRequest(
        _ source: RequestSource, _ interceptor: (any RequestInterceptor)?, _ destination: DownloadRequest.Destination?
    ) -> DownloadRequest {
        let file = DownloadFile(folder: self.configuration.temporaryFolder, destination: destination)
        return DownloadRequest(core: self.core, source: source, interceptor: interceptor, sink: .file(file))
    }

    /// A stream for a body is spooled, which takes time.
    private func converted(_ request: any URLRequestConvertible) -> RequestSource {
        let hasStream = (request as? URLRequest).map { $0.httpBodyStream != nil } ?? true
        return .converted(request, isBlocking: hasStream, spoolFolder: self.configuration.temporaryFolder)
    }
}
