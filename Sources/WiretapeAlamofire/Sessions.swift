public import Dispatch
public import Foundation
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSessionConfiguration {
    /// Alamofire's namespace.
    public static var af: AlamofireConfigurations { AlamofireConfigurations() }

    public struct AlamofireConfigurations: Sendable {
        /// A default configuration with the fields that each request has by default.
        public var `default`: URLSessionConfiguration { self.with(.default) }
        /// An ephemeral configuration with these fields.
        public var ephemeral: URLSessionConfiguration { self.with(.ephemeral) }

        private func with(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
            configuration.headers = .default
            return configuration
        }
    }

    /// The fields that each request has.
    public var headers: HTTPHeaders {
        get {
            HTTPHeaders(
                (self.httpAdditionalHeaders ?? [:]).map { HTTPHeader(name: "\($0.key)", value: "\($0.value)") }.sorted { $0.name < $1.name }
            )
        }
        set { self.httpAdditionalHeaders = Dictionary(newValue.map { ($0.name, $0.value) }) { first, second in "\(first), \(second)" } }
    }
}

extension HTTPSession.Configuration {
    /// Takes over the parts of a `URLSessionConfiguration` that a session uses: its fields, the time that a request may wait, its cookies,
    /// and how connections are made.
    public init(_ configuration: URLSessionConfiguration) {
        self.init()
        self.headers = configuration.headers
        self.cookieStorage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
        self.timeouts.idle = .seconds(configuration.timeoutIntervalForRequest)
        self.urlSessionConfiguration = configuration
    }
}

extension HTTPSession {
    /// A session with the parameters of Alamofire's initializer.
    ///
    /// - Parameters:
    ///   - transport: nil for the cassette's transport, or the network.
    ///   - rootQueue: ignored, like the two other queues: a session runs on threads of its own, and handlers run on the queues that they
    ///     name.
    ///   - startRequestsImmediately: whether a request starts with its first handler; nil leaves it to the configuration, as with the
    ///     others.
    ///   - interceptor: runs after those of the configuration.
    ///   - eventMonitors: are called after those of the configuration.
    @_disfavoredOverload
    public convenience init(
        configuration: Configuration = Configuration(), transport: (any Transport)? = nil, rootQueue: DispatchQueue? = nil,
        startRequestsImmediately: Bool? = nil,
        requestQueue: DispatchQueue? = nil, serializationQueue: DispatchQueue? = nil,
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
        self.init(configuration: configuration, transport: transport)
    }

    /// The same with a `URLSessionConfiguration`, as in Alamofire.
    public convenience init(
        configuration: URLSessionConfiguration, rootQueue: DispatchQueue? = nil, startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil, serializationQueue: DispatchQueue? = nil,
        interceptor: (any HTTPSession.RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil, cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        self.init(
            configuration: Configuration(configuration), startRequestsImmediately: startRequestsImmediately, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler, cachedResponseHandler: cachedResponseHandler,
            eventMonitors: eventMonitors)
    }

    @available(*, unavailable, message: "a session makes its own URLSession, so that a replay needs none; use Session(configuration:)")
    public convenience init(session: URLSession, delegate: SessionDelegate, rootQueue: DispatchQueue) { self.init() }
}

@available(*, unavailable, message: "a session has no delegate: use an EventMonitor, an interceptor or a RedirectHandler")
public struct SessionDelegate: Sendable {
    public init(fileManager: FileManager = .default) {}
}

#if canImport(FoundationNetworking)
extension URLRequest {
    @available(*, unavailable, message: "Foundation on Linux knows neither cellular nor constrained networks; leave it out there")
    public var allowsConstrainedNetworkAccess: Bool {
        get { true }
        set {}
    }
}
#endif
