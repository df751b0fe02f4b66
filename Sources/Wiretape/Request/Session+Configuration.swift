public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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
