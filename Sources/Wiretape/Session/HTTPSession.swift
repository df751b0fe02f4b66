public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Makes requests and sends them through one transport.
///
///     let session = HTTPSession()
///     let pets = try await session.get("https://example.test/pets", as: [Pet].self)
///
/// In a test with a cassette, the same requests are recorded and replayed. `request`, `upload`, `download` and `stream` make requests with
/// custom handlers, progress and validations:
///
///     let request = session.request("https://example.test/pets", parameters: ["kind": "cat"]).validate()
///     let cats = try await request.serializingDecodable([Pet].self).value
///
/// A request that has started runs to its end even if the session is released. Sessions share only what their configurations share.
public final class HTTPSession: Sendable {
    /// A session with the default configuration.
    public static let `default` = HTTPSession()

    let core: SessionCore

    /// - Parameter transport: carries all requests and checks their certificates itself: `configuration.serverTrust` and
    ///   `cachedResponseHandler` do not apply. If nil, a request uses the transport of `Cassette.current` at the time it is made. If there
    ///   is none, it uses the cassette of the task that created the session, as long as no other test with a cassette has run since.
    ///   Without a cassette it uses the network, unless `WIRETAPE_OFFLINE` is set or a test uses a cassette.
    public init(configuration: Configuration = Configuration(), transport: (any Transport)? = nil) {
        self.core = SessionCore(configuration, transport: transport)
    }

    /// Sends all requests through this cassette.
    public init(cassette: Cassette, configuration: Configuration = Configuration()) {
        self.core = SessionCore(configuration, cassette: cassette)
    }

    /// Binds the session to a test: its requests use that cassette, even those from queues, callbacks and detached tasks.
    ///
    ///     let session = HTTPSession(cassette: .current)
    ///
    /// A request from a task of another test is refused, and fails that test.
    ///
    /// - Parameter cassette: if nil, as it is outside of tests, the session is like one created without this parameter.
    public init(configuration: Configuration = Configuration(), cassette: Cassette?) {
        self.core = SessionCore(configuration, cassette: cassette)
    }

    /// The session that created a request. It is another object, because requests keep only the part that sessions share.
    package init(of request: Request) { self.core = request.core }

    public var configuration: Configuration { self.core.configuration }

    // MARK: All requests

    /// Calls a closure with the requests that have started and not ended, in the order in which they started.
    public func withAllRequests(_ body: ([Request]) throws -> Void) rethrows { try body(self.core.activeRequests) }

    /// Cancels the requests that have started and not ended.
    public func cancelAllRequests() { self.core.cancelAll(.cancelled) }

    /// Returns when no request is running, for example before a cassette is closed. Also waits for requests that start meanwhile.
    public func waitUntilIdle() async { await self.core.waitUntilIdle() }
}

extension HTTPSession {
    /// The settings of all requests of a session.
    public struct Configuration: Sendable {
        /// The base of URLs that have no scheme: with `https://a.test/v1`, `/pets` is `https://a.test/v1/pets`. URLs with a scheme are not
        /// changed. If nil, every URL needs a scheme.
        public var baseURL: URL?
        /// For `get`, `post` and similar calls. So is `jsonEncoder`.
        public var decoder: any DataDecoder = JSONDecoder()
        /// Must not be changed afterwards. Keys are sorted, so that recordings are stable.
        public var jsonEncoder = JSONParameterEncoder().encoder
        /// Fields that are added to a request that lacks them. By default `Accept-Encoding`, `Accept-Language` and `User-Agent`.
        public var headers: Headers = .default
        /// Stores the cookies; nil for no cookies. By default they are in memory and belong to this configuration only, since
        /// `HTTPCookieStorage.shared` is a file on Linux.
        public var cookieStorage: HTTPCookieStorage? = URLSessionConfiguration.ephemeral.httpCookieStorage
        public var timeouts = Timeouts()
        /// Whether a request starts with its first handler; otherwise only by `resume()`.
        public var startsRequestsImmediately = true
        /// Run in order, after the request's own interceptor.
        public var interceptors: [any RequestInterceptor] = []
        /// Decides on redirects of requests without a handler of their own; nil follows them.
        public var redirectHandler: (any RedirectHandler)?
        /// Notified of each event of each request.
        public var eventMonitors: [any EventMonitor] = []
        /// For timeouts, waits before retries and the timeline. Retries of replayed exchanges do not wait.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// Which certificates are accepted when a request goes to the network; nil for the platform's own policy.
        ///
        /// Applies to sessions created without a transport, since a `LiveTransport` has its own. A policy that the platform cannot enforce
        /// fails the request before anything is sent.
        public var serverTrust: ServerTrustManager?
        /// An identity with its certificates, for servers that ask for one (RFC 8446, 4.4.2); nil presents none.
        ///
        /// Like `serverTrust`, it applies to sessions created without a transport. If it is set, each request to the network fails on
        /// Linux, whose `URLSession` cannot present one.
        public var clientCredential: URLCredential?
        /// Asked about each response that URLSession would store in the shared cache; nil stores none.
        ///
        /// Like `serverTrust`, it applies to sessions created without a transport, and only to requests without a cassette. On Linux,
        /// URLSession stores no responses and never asks.
        public var cachedResponseHandler: (any CachedResponseHandler)?
        /// The folder for spooled bodies and unfinished downloads; nil for the system's folder.
        public var temporaryFolder: URL?
        /// How the session's `URLSession` connects, for example with or without cellular networks; nil for an ephemeral one. Its fields,
        /// cookies and timeouts are ignored in favour of the session's.
        public var urlSessionConfiguration: URLSessionConfiguration?
        /// The size in bytes up to which a form is encoded in memory.
        public var multipartThreshold = FormData.memoryThreshold

        public init() {}
    }
}

extension HTTPSession {
    /// Changes a request after it is made, before adapters.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    // MARK: Data

    /// A request whose response is collected in memory.
    public func request(
        _ url: any URLConvertible, method: Method = .get, headers: Headers? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.plain(url, method, headers, requestModifier), interceptor)
    }

    /// A request with parameters in the query or in the body, depending on the encoder and the method.
    public func request<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: Method = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: Headers? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.dataRequest(.encoded(url, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }, interceptor)
    }

    /// A request from a `URLRequest` or a router.
    public func request(_ request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil) -> DataRequest {
        self.dataRequest(self.converted(request), interceptor)
    }

    // MARK: Download

    /// A request whose response is written to a file: in the temporary folder, where it stays, if no destination is given.
    public func download(
        _ url: any URLConvertible, method: Method = .get, headers: Headers? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        self.downloadRequest(.plain(url, method, headers, requestModifier), interceptor, destination)
    }

    /// A download with parameters in the query or in the body, depending on the encoder and the method.
    public func download<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: Method = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: Headers? = nil,
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

    /// Continues a download that ended early, with its resume data.
    ///
    /// Requests the rest with `Range` and `If-Range` (RFC 9110, 13.1.5). If the representation has changed meanwhile, all of it is
    /// downloaded. The file named by the resume data becomes the download's.
    public func download(
        resumingWith data: Data, interceptor: (any RequestInterceptor)? = nil, to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let part = Result { () throws(WiretapeError) in try PartialDownload(data) }
        let source = RequestSource { _ in RequestDraft(try part.get().request) }
        return self.downloadRequest(source, interceptor, destination, part: try? part.get())
    }

    // MARK: Stream

    /// A request whose response is delivered as it arrives.
    public func stream(
        _ url: any URLConvertible, method: Method = .get, headers: Headers? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> StreamRequest {
        StreamRequest(core: self.core, source: .plain(url, method, headers, requestModifier), interceptor: interceptor)
    }

    /// A streamed request with parameters in the query or in the body, depending on the encoder and the method.
    public func stream<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible, method: Method = .get, parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder(), headers: Headers? = nil,
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
        _ source: RequestSource, _ interceptor: (any RequestInterceptor)?, _ destination: DownloadRequest.Destination?,
        part: PartialDownload? = nil
    ) -> DownloadRequest {
        let file = DownloadFile(folder: self.configuration.temporaryFolder, destination: destination, part: part)
        return DownloadRequest(core: self.core, source: source, interceptor: interceptor, sink: .file(file))
    }

    /// Blocking if the request may have a stream as its body, since that is spooled first.
    private func converted(_ request: any URLRequestConvertible) -> RequestSource {
        let hasStream = (request as? URLRequest).map { $0.httpBodyStream != nil } ?? true
        return .converted(request, isBlocking: hasStream, spoolFolder: self.configuration.temporaryFolder)
    }
}

// Uploads.
extension HTTPSession {
    // MARK: Data

    /// A request with data as its body. The caller sets the Content-Type.
    public func upload(
        _ data: Data, to url: any URLConvertible, method: Method = .post, headers: Headers? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.upload(UploadTarget(url, method, headers, requestModifier), interceptor) { _ in RequestContent(body: .data(data)) }
    }

    /// A request with data as its body, which replaces the request's own body.
    public func upload(
        _ data: Data, with request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        self.upload(UploadTarget(request), interceptor) { _ in RequestContent(body: .data(data)) }
    }

    // MARK: File

    /// A request with a file as its body. The file is read as it is sent and must not change until the request has ended.
    public func upload(
        _ fileURL: URL, to url: any URLConvertible, method: Method = .post, headers: Headers? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.upload(UploadTarget(url, method, headers, requestModifier), interceptor) { _ in try RequestContent(file: fileURL) }
    }

    public func upload(
        _ fileURL: URL, with request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        self.upload(UploadTarget(request), interceptor) { _ in try RequestContent(file: fileURL) }
    }

    // MARK: Stream

    /// A request with a stream as its body. The stream is read to its end into a temporary file before anything is sent, so that the body
    /// can be compared, recorded and sent again.
    ///
    /// - Parameter stream: not opened yet, and not used by the caller from now on.
    public func upload(
        _ stream: InputStream, to url: any URLConvertible, method: Method = .post, headers: Headers? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.upload(stream, UploadTarget(url, method, headers, requestModifier), interceptor)
    }

    public func upload(
        _ stream: InputStream, with request: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        self.upload(stream, UploadTarget(request), interceptor)
    }

    // MARK: Form

    /// A request with a form as its body (RFC 7578).
    ///
    /// - Parameter threshold: the size in bytes up to which the form is encoded in memory. A larger form is written to a temporary file,
    ///   which is removed when the request has ended. Nil uses the configuration's threshold.
    public func upload(
        multipartFormData form: FormData, to url: any URLConvertible, usingThreshold threshold: Int? = nil,
        method: Method = .post, headers: Headers? = nil, interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.upload(form: { form }, threshold, UploadTarget(url, method, headers, requestModifier), interceptor)
    }

    /// A request with a form that the closure fills when the request starts; an error it throws is the request's error.
    public func upload(
        multipartFormData fill: @escaping @Sendable (inout FormData) throws -> Void, to url: any URLConvertible,
        usingThreshold threshold: Int? = nil, method: Method = .post, headers: Headers? = nil,
        interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        self.upload(form: Self.form(fill), threshold, UploadTarget(url, method, headers, requestModifier), interceptor)
    }

    public func upload(
        multipartFormData form: FormData, with request: any URLRequestConvertible, usingThreshold threshold: Int? = nil,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        self.upload(form: { form }, threshold, UploadTarget(request), interceptor)
    }

    public func upload(
        multipartFormData fill: @escaping @Sendable (inout FormData) throws -> Void, with request: any URLRequestConvertible,
        usingThreshold threshold: Int? = nil, interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        self.upload(form: Self.form(fill), threshold, UploadTarget(request), interceptor)
    }

    // MARK: Making

    private static func form(
        _ fill: @escaping @Sendable (inout FormData) throws -> Void
    ) -> @Sendable () throws -> FormData {
        {
            var form = FormData()
            try fill(&form)
            return form
        }
    }

    private func upload(
        form: @escaping @Sendable () throws -> FormData, _ threshold: Int?, _ target: UploadTarget,
        _ interceptor: (any RequestInterceptor)?
    ) -> DataRequest {
        let threshold = threshold ?? self.configuration.multipartThreshold
        return self.upload(target, isBlocking: true, interceptor) { try RequestContent(try form(), threshold: threshold, folder: $0) }
    }

    private func upload(_ stream: InputStream, _ target: UploadTarget, _ interceptor: (any RequestInterceptor)?) -> DataRequest {
        let stream = OwnedStream(stream)
        return self.upload(target, isBlocking: true, interceptor) { try RequestContent(spooling: stream.stream, folder: $0) }
    }

    private func upload(
        _ target: UploadTarget, isBlocking: Bool = false, _ interceptor: (any RequestInterceptor)?,
        _ content: @escaping @Sendable (_ folder: URL?) throws -> RequestContent
    ) -> DataRequest {
        let folder = self.configuration.temporaryFolder
        let source = target.source({ try content(folder) }, isBlocking: isBlocking, spoolFolder: folder)
        return DataRequest(core: self.core, source: source, interceptor: interceptor, sink: .memory)
    }
}

/// A stream that belongs to a request.
// SAFETY: used once, by the one task that spools it; the contract of `upload` forbids the caller to use it.
private struct OwnedStream: @unchecked Sendable {
    let stream: InputStream

    init(_ stream: InputStream) { self.stream = stream }
}
