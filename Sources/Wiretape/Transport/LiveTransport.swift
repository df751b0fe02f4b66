internal import ClientCapabilities

#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends requests to the network with `URLSession`, in the ways that are safe on every platform.
///
/// Each redirect, each 401 and each 103 (on Apple's platforms from macOS 14 and iOS 17 on) is reported as it arrives; nothing is stored or
/// followed. Nothing is cached unless an `HTTPSession.CachedResponseHandler` asks for it. Only the system's connection attempts time out.
/// The platform adds and hides the following:
///
/// - A request with a body is sent as an upload, from memory or its file, so that no Content-Type is added. On Linux, a GET cannot have a
///   body.
/// - Header fields of one name are joined, in requests and in responses. In responses, Set-Cookie is split again, and fields are in the
///   order of their names. Linux capitalizes names. The reason phrase is hidden.
/// - Bodies are decoded by the system, while Content-Encoding and Content-Length stay as received.
/// - Trailers are hidden; on Linux, up to Swift 6.3, a chunked response with trailers crashes the process.
/// - If the receiver pauses, Apple platforms stop reading. On Linux a suspended task sends its request again when it is resumed, so it is
///   not suspended. Data that arrives meanwhile is buffered, and spooled to a file beyond one mebibyte.
/// - WebSockets are opened where `URLSession` supports them. On Linux that takes a libcurl with WebSockets, which few systems have; see
///   `Wiretape.capabilities[.webSocket]`. Elsewhere `open` throws a `TransportFailure` of the kind `unsupported`.
public final class LiveTransport: Transport, WebSocketTransport {
    public static let shared = LiveTransport()

    /// An HTTP proxy for all requests, on platforms where a URLSession can have one.
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
    private let serverTrust: HTTPSession.ServerTrustManager?
    private let route: HTTPSession.ServerTrustRule.Route
    private let caches: Bool
    private let cachePolicy: URLRequest.CachePolicy
    /// Why no request can be sent.
    private let misconfiguration: TransportFailure?

    /// - Parameters:
    ///   - configuration: its cookies, credentials, header fields and timeouts are ignored, since the session handles them. Its cache and
    ///     cache policy are used if there is a `cachedResponseHandler`. With a background configuration each request fails, because its
    ///     tasks outlive the process.
    ///   - serverTrust: which certificates are accepted; nil for the platform's own evaluation. A policy that the platform cannot enforce
    ///     fails the request before anything is sent.
    ///   - route: whether requests pass a proxy that intercepts TLS and has the same policies, such as the one that `http_proxy` and
    ///     `https_proxy` name.
    ///   - cachedResponseHandler: asked for each response that URLSession would cache. Nil turns caching off.
    ///   - clientCredential: an identity with its certificates, for servers that ask for one. If it is set, each request fails on Linux,
    ///     whose `URLSession` cannot present one.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, serverTrust: HTTPSession.ServerTrustManager? = nil,
        route: HTTPSession.ServerTrustRule.Route = .direct, cachedResponseHandler: (any HTTPSession.CachedResponseHandler)? = nil,
        clientCredential: URLCredential? = nil
    ) {
        self.init(
            checked: Self.plain(configuration, caches: cachedResponseHandler != nil), serverTrust: serverTrust, route: route,
            cachedResponseHandler: cachedResponseHandler, clientCredential: clientCredential,
            misconfiguration: Self.refusal(of: configuration) ?? Self.refusal(of: clientCredential))
    }

    /// Throws `TransportFailure` on Linux, whose `URLSession` takes a proxy only from the environment.
    public convenience init(
        configuration: URLSessionConfiguration = .ephemeral, proxy: Proxy, serverTrust: HTTPSession.ServerTrustManager? = nil,
        route: HTTPSession.ServerTrustRule.Route = .direct, cachedResponseHandler: (any HTTPSession.CachedResponseHandler)? = nil,
        clientCredential: URLCredential? = nil
    ) throws {
        #if canImport(FoundationNetworking)
        throw TransportFailure(
            .unsupported,
            "URLSession on Linux has no proxy setting: set the environment variables http_proxy and https_proxy, in lower case, to \"http://\(proxy.host):\(proxy.port)\" before the first request, or start the program with \"wiretape record\"."
        )
        #else
        let plain = Self.plain(configuration, caches: cachedResponseHandler != nil)
        plain.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": proxy.host, "HTTPPort": proxy.port, "HTTPSEnable": 1, "HTTPSProxy": proxy.host,
            "HTTPSPort": proxy.port,
        ]
        self.init(
            checked: plain, serverTrust: serverTrust, route: route, cachedResponseHandler: cachedResponseHandler,
            clientCredential: clientCredential, misconfiguration: Self.refusal(of: configuration))
        #endif
    }

    private init(
        checked configuration: URLSessionConfiguration, serverTrust: HTTPSession.ServerTrustManager?,
        route: HTTPSession.ServerTrustRule.Route,
        cachedResponseHandler: (any HTTPSession.CachedResponseHandler)?, clientCredential: URLCredential?,
        misconfiguration: TransportFailure?
    ) {
        self.serverTrust = serverTrust
        self.route = route
        self.misconfiguration = misconfiguration
        self.caches = Self.platformCaches && cachedResponseHandler != nil
        self.cachePolicy = configuration.requestCachePolicy
        let queue = OperationQueue()
        queue.name = "wiretape.live"
        queue.maxConcurrentOperationCount = 1
        self.delegate = LiveDelegate(
            serverTrust: route == .direct ? serverTrust : nil, cachedResponseHandler: cachedResponseHandler,
            clientCredential: clientCredential)
        self.session = URLSession(configuration: configuration, delegate: self.delegate, delegateQueue: queue)
    }

    deinit {
        // The session retains its delegate until it is invalidated. Running tasks are not cancelled.
        self.session.finishTasksAndInvalidate()
    }

    /// A copy without the features that the client implements itself.
    private static func plain(_ given: URLSessionConfiguration, caches: Bool) -> URLSessionConfiguration {
        let configuration = given.isBackground ? .ephemeral : given.copy() as? URLSessionConfiguration ?? .ephemeral
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

    /// A week in seconds. Whole seconds, since Linux takes no fractions.
    private static let never: TimeInterval = 7 * 86_400

    public func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
        if let failure = self.misconfiguration ?? self.refusal(of: request) ?? self.distrust(of: request) {
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

    public func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        if let failure = Self.webSocketRefusal(of: request) ?? self.misconfiguration ?? self.refusal(of: request)
            ?? self.distrust(of: request)
        {
            throw failure
        }
        var outgoing = self.urlRequest(request)
        outgoing.url = WebSocketURL.socket(request.url)
        if !protocols.isEmpty { outgoing.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol") }
        let socket = LiveSocket(self.session.webSocketTask(with: outgoing), request: request, transport: self)
        self.delegate.add(socket)
        try await socket.open()
        return socket
    }

    /// - Parameter platform: the capabilities of this process.
    static func webSocketRefusal(of request: TransportRequest, on platform: CapabilityReport = capabilities) -> TransportFailure? {
        guard let capability = platform[.webSocket], capability.state == .no else { return nil }
        let libcurl = platform.facts.libcurl.map { " (libcurl \($0.version))" } ?? ""
        return TransportFailure(
            .unsupported,
            "URLSession opens no WebSockets here\(libcurl), so \"\(LogURL.text(WebSocketURL.socket(request.url)))\" was not asked: \(capability.remedy ?? "replay a cassette")."
        )
    }

    private static func refusal(of configuration: URLSessionConfiguration) -> TransportFailure? {
        guard configuration.isBackground else { return nil }
        return TransportFailure(
            .unsupported,
            "a background URLSessionConfiguration is not supported, since its tasks outlive the process: use .default or .ephemeral.")
    }

    private static func refusal(of clientCredential: URLCredential?) -> TransportFailure? {
        #if canImport(FoundationNetworking)
        guard clientCredential != nil else { return nil }
        return TransportFailure(.unsupported, "URLSession on Linux presents no client certificate: use a transport that does.")
        #else
        return nil
        #endif
    }

    /// Whether `URLSession` stores responses.
    private static var platformCaches: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        true
        #endif
    }

    /// Nothing is sent to a host whose policy cannot be enforced, so there is no exchange to record.
    private func distrust(of request: TransportRequest) -> TransportFailure? {
        guard case .refuse(let error) = HTTPSession.ServerTrustRule(route: self.route).decide(request.url, by: self.serverTrust) else {
            return nil
        }
        return TransportFailure(.unsupported, error.message, cause: error)
    }

    /// Refuses requests for which URLSession's own failure would be misleading.
    private func refusal(of request: TransportRequest) -> TransportFailure? {
        switch request.body {
        case .unobservable:
            return TransportFailure(
                .unsupported, "the body of \(Self.name(request)) cannot be read, so it cannot be sent: pass it as data or as a file.")
        case .file(let url, _) where !FileManager.default.isReadableFile(atPath: url.path):
            return TransportFailure(
                .body,
                "the body of \(Self.name(request)) cannot be read from \"\(url.path)\": keep the file until the request has ended.")
        case .none, .data, .file: break
        }
        do {
            try request.headers.validated()
        } catch {
            return TransportFailure(.unsupported, "\(Self.name(request)) cannot be sent: \(error.message)", cause: error)
        }
        guard let scheme = request.url.scheme?.lowercased(), scheme == "http" || scheme == "https", request.url.host != nil else {
            return TransportFailure(.unsupported, "\(Self.name(request)) is not an http or https URL with a host: correct it.")
        }
        if request.loading.cachePolicy == .returnCacheDataDontLoad, !self.caches {
            return TransportFailure(
                .unsupported,
                "\(Self.name(request)) asks for a cached response alone, and nothing is cached: use another cachePolicy, or catch the failure as a miss of the cache."
            )
        }
        #if canImport(FoundationNetworking)
        if Self.invitesTrailers(request), capabilities[.trailers]?.isFatal == true {
            return TransportFailure(
                .unsupported,
                "\(Self.name(request)) asks for trailers, with which URLSession on Linux ends the process, up to Swift 6.3: leave \"TE: trailers\" out, or send it through a transport of another library."
            )
        }
        if request.method == "GET", request.body.isPresent {
            return TransportFailure(
                .unsupported,
                "\(Self.name(request)) has a body, but URLSession on Linux sends none with GET: use POST or QUERY, or move it into the query."
            )
        }
        #endif
        return nil
    }

    #if canImport(FoundationNetworking)
    /// RFC 9110, 10.1.4. An origin may also send trailers without an invitation; that cannot be known in advance.
    private static func invitesTrailers(_ request: TransportRequest) -> Bool {
        request.headers.values(for: "TE").contains { $0.lowercased().split(separator: ",").contains { $0.contains("trailers") } }
    }
    #endif

    private static func name(_ request: TransportRequest) -> String { "\(request.method) \"\(LogURL.text(request.url))\"" }

    private func urlRequest(_ request: TransportRequest) -> URLRequest {
        var outgoing = URLRequest(url: request.url, cachePolicy: self.cachePolicy, timeoutInterval: Self.never)
        outgoing.httpMethod = request.method
        var loading = request.loading
        loading.handlesCookies = false
        if !self.caches || loading.cachePolicy == .useProtocolCachePolicy { loading.cachePolicy = self.cachePolicy }
        outgoing.loading = loading
        for field in request.headers { outgoing.addValue(field.value, forHTTPHeaderField: field.name) }
        return outgoing
    }
}

extension URLSessionConfiguration {
    /// Linux has no background configurations.
    var isBackground: Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        self.identifier != nil
        #endif
    }
}
