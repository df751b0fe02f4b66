internal import TapeBytes

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Goes to the network with `URLSession`, in the ways that are safe on every platform.
///
/// Each redirect, each 401 and each 103 (on Apple's platforms from macOS 14 and iOS 17 on) is told as it comes; nothing is stored or
/// followed, nothing cached where no `CachedResponseHandler` says so, and nothing times out but what the system's connection does. What
/// the platform adds and hides:
///
/// - A request with a body goes out as an upload, from memory or from its file, so that no Content-Type is added. On Linux GET takes none.
/// - Header fields of one name are joined into one, in requests and in responses; of responses Set-Cookie is taken apart again, and the
///   list is in the order of names. Linux writes names with capitals. The reason phrase is not to be seen.
/// - Bodies come without the codings that the system knows, while Content-Encoding and Content-Length stay as they came.
/// - Trailers are not to be seen; on Linux the process dies of a chunked answer that has any, up to Swift 6.3.
/// - Where the receiver pauses, Apple platforms stop reading. On Linux a suspended task begins its request anew when it goes on, and so it
///   is not suspended: what comes meanwhile is held, past a mebibyte in a file.
public final class LiveTransport: Transport {
    public static let shared = LiveTransport()

    /// An HTTP proxy for all requests, on platforms where a session can have one.
    public struct Proxy: Sendable, Hashable {
        public var host: String
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    private let session: URLSession
    private let delegate: LiveDelegate
    private let serverTrust: ServerTrustManager?
    private let route: ServerTrustRule.Route
    private let cachePolicy: URLRequest.CachePolicy

    /// - Parameters:
    ///   - configuration: cookies, credentials, header fields and timeouts in it are not used: those are the session's. Its cache and cache
    ///     policy are, where there is a `cachedResponseHandler`.
    ///   - serverTrust: whose certificates are taken; nil for what the platform does by itself. A policy that the platform has no way to
    ///     carry out fails the request before anything is sent.
    ///   - route: whether a proxy stands in between that opens TLS and has the same policies, as the one that `http_proxy` and
    ///     `https_proxy` name may.
    ///   - cachedResponseHandler: asked for each answer that URLSession would keep. Nil keeps none, and takes none from a cache.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, serverTrust: ServerTrustManager? = nil,
        route: ServerTrustRule.Route = .direct, cachedResponseHandler: (any CachedResponseHandler)? = nil
    ) {
        self.init(
            checked: Self.plain(configuration, caches: cachedResponseHandler != nil), serverTrust: serverTrust, route: route,
            cachedResponseHandler: cachedResponseHandler)
    }

    /// Throws `TransportFailure` on Linux, whose `URLSession` reads the environment alone.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, proxy: Proxy, serverTrust: ServerTrustManager? = nil,
        route: ServerTrustRule.Route = .direct, cachedResponseHandler: (any CachedResponseHandler)? = nil
    ) throws {
        #if canImport(FoundationNetworking)
        throw TransportFailure(
            .unsupported,
            "URLSession on Linux takes no proxy for itself: set the variables http_proxy and https_proxy, in small letters, to \"http://\(proxy.host):\(proxy.port)\" before the first request, or start the program with \"wiretape record\"."
        )
        #else
        let plain = Self.plain(configuration, caches: cachedResponseHandler != nil)
        plain.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": proxy.host, "HTTPPort": proxy.port, "HTTPSEnable": 1, "HTTPSProxy": proxy.host,
            "HTTPSPort": proxy.port,
        ]
        self.init(checked: plain, serverTrust: serverTrust, route: route, cachedResponseHandler: cachedResponseHandler)
        #endif
    }

    private init(
        checked configuration: URLSessionConfiguration, serverTrust: ServerTrustManager?, route: ServerTrustRule.Route,
        cachedResponseHandler: (any CachedResponseHandler)?
    ) {
        self.serverTrust = serverTrust
        self.route = route
        self.cachePolicy = configuration.requestCachePolicy
        let queue = OperationQueue()
        queue.name = "wiretape.live"
        queue.maxConcurrentOperationCount = 1
        self.delegate = LiveDelegate(serverTrust: route == .direct ? serverTrust : nil, cachedResponseHandler: cachedResponseHandler)
        self.session = URLSession(configuration: configuration, delegate: self.delegate, delegateQueue: queue)
    }

    deinit {
        // It holds its delegate until then. Tasks on their way come to their end.
        self.session.finishTasksAndInvalidate()
    }

    /// Without all that the client does itself.
    private static func plain(_ given: URLSessionConfiguration, caches: Bool) -> URLSessionConfiguration {
        let configuration = given.copy() as? URLSessionConfiguration ?? .ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.httpAdditionalHeaders = nil
        if !caches {
            configuration.urlCache = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        }
        configuration.timeoutIntervalForRequest = Self.never
        return configuration
    }

    /// Seconds: a week. Whole ones, since Linux takes no others.
    private static let never: TimeInterval = 7 * 86_400

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        if let failure = Self.refusal(of: request) ?? self.distrust(of: request) {
            _ = receive(.failed(failure))
            return FinishedTask.shared
        }
        let outgoing = self.urlRequest(request)
        let task: URLSessionTask =
            switch request.body {
            case .none, .unobservable: self.session.dataTask(with: outgoing)
            case .data(let data): self.session.uploadTask(with: outgoing, from: data)
            case .file(let url, _): self.session.uploadTask(with: outgoing, fromFile: url)
            }
        let live = LiveTask(task, request: request, transport: self, receive: receive)
        self.delegate.add(live)
        task.resume()
        return live
    }

    /// Nothing is sent to a host whose policy nobody can carry out: there is no exchange that could be recorded.
    private func distrust(of request: TransportRequest) -> TransportFailure? {
        guard case .refuse(let error) = ServerTrustRule(route: self.route).decide(request.url, by: self.serverTrust) else { return nil }
        return TransportFailure(.unsupported, error.message, underlying: error)
    }

    /// What URLSession would fail at in a way that nobody understands.
    private static func refusal(of request: TransportRequest) -> TransportFailure? {
        switch request.body {
        case .unobservable:
            return TransportFailure(
                .unsupported, "the body of \(self.name(request)) cannot be seen, and so it cannot be sent: give it as data or as a file.")
        case .file(let url, _) where !FileManager.default.isReadableFile(atPath: url.path):
            return TransportFailure(
                .body,
                "the body of \(self.name(request)) cannot be read from \"\(url.path)\": leave the file there until the request has ended.")
        case .none, .data, .file: break
        }
        do {
            try request.headers.validated()
        } catch {
            return TransportFailure(.unsupported, "\(self.name(request)) cannot be sent: \(error.message)", underlying: error)
        }
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https", request.url.host != nil else {
            return TransportFailure(.unsupported, "\(self.name(request)) is no http or https URL with a host: correct it.")
        }
        #if canImport(FoundationNetworking)
        if request.method == "GET", request.body.isPresent {
            return TransportFailure(
                .unsupported,
                "\(self.name(request)) has a body, and URLSession on Linux sends none with GET: use POST or QUERY, or put it into the query."
            )
        }
        #endif
        return nil
    }

    private static func name(_ request: TransportRequest) -> String { "\(request.method) \"\(RequestDecider.url(of: request))\"" }

    private func urlRequest(_ request: TransportRequest) -> URLRequest {
        var outgoing = URLRequest(url: request.url, cachePolicy: self.cachePolicy, timeoutInterval: Self.never)
        outgoing.httpMethod = request.method
        outgoing.httpShouldHandleCookies = false
        for field in request.headers { outgoing.addValue(field.value, forHTTPHeaderField: field.name) }
        return outgoing
    }
}

/// Hands what URLSession says to the exchange it is about.
final class LiveDelegate: NSObject, URLSessionDataDelegate {
    private let tasks = Guarded<[Int: LiveTask]>([:])
    /// Evaluated in the challenges of Apple platforms; there are none elsewhere.
    private let serverTrust: ServerTrustManager?
    /// Asked on Apple platforms alone.
    private let cachedResponseHandler: (any CachedResponseHandler)?

    init(serverTrust: ServerTrustManager?, cachedResponseHandler: (any CachedResponseHandler)?) {
        self.serverTrust = serverTrust
        self.cachedResponseHandler = cachedResponseHandler
    }

    /// Before the task is started.
    func add(_ task: LiveTask) { self.tasks.withLock { $0[task.number] = task } }

    private func find(_ task: URLSessionTask) -> LiveTask? { self.tasks.withLock { $0[task.taskIdentifier] } }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.find(dataTask)?.received(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { self.find(dataTask)?.received(data) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let handler = self.cachedResponseHandler, let request = dataTask.currentRequest else { return completionHandler(nil) }
        Task { completionHandler(await handler.cachedResponse(proposedResponse, for: request)) }
    }

    // MARK: URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.find(task)?.sent(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // A redirect is an answer: whether it is followed others decide.
        self.find(task)?.received(response)
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // It comes behind the whole 401 with its body, and up to Swift 6.3.1 nothing more would come after default handling.
        self.tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        guard let serverTrust, challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            // In front of the response: without a credential it comes as it is.
            return completionHandler(.performDefaultHandling, nil)
        }
        let (disposition, credential) = serverTrust.answer(challenge) { self.find(task)?.distrusted($0) }
        completionHandler(disposition, credential)
        #endif
    }

    #if !canImport(FoundationNetworking)
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse) {
        self.find(task)?.received(response)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.find(task)?.collected(metrics)
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
    }
}
