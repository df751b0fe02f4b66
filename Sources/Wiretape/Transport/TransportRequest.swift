public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One request as it is sent: after adapters, encoders, cookies and credentials.
public struct TransportRequest: Sendable {
    /// An uppercase token (RFC 9110, 9.1).
    public var method: String
    /// With a scheme and a host.
    public var url: URL
    /// In order, duplicates kept; checked for CR, LF and NUL.
    public var headers: HTTPSession.Headers
    public var body: RequestBody
    /// A name for readers of a recording, such as that of a router's case.
    public var label: String?
    public var loading: Loading
    /// What traffic rules do to the request on its way; nil if none does.
    var ruled: RuledRequest?

    public init(
        method: String, url: URL, headers: HTTPSession.Headers = HTTPSession.Headers(), body: RequestBody = .none, label: String? = nil,
        loading: Loading = Loading()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.label = label
        self.loading = loading
    }

    /// How a `URLRequest` wants to be loaded, apart from what is sent. Matters to the session and the network, not to a cassette.
    public struct Loading: Sendable, Hashable {
        /// Whether the session's cookies are sent, and those of the response stored.
        public var handlesCookies = true
        /// Used by a `LiveTransport` that caches. One that does not cache refuses `returnCacheDataDontLoad`.
        public var cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
        /// Has no effect on Linux.
        public var allowsCellularAccess = true
        /// Has no effect on Linux.
        public var networkServiceType: URLRequest.NetworkServiceType = .default
        #if !canImport(FoundationNetworking)
        public var allowsExpensiveNetworkAccess = true
        public var allowsConstrainedNetworkAccess = true
        #endif

        public init() {}
    }
}

/// The body of a request, which can be read more than once: for matching, a retry, a redirect.
///
/// A stream is spooled into a file before it gets here.
public enum RequestBody: Sendable {
    case none
    case data(Data)
    /// A file that does not change until the request has ended, with its size in bytes.
    case file(URL, size: Int)
    /// There is a body, but it cannot be read, because a foreign `URLSession` holds it. Never treated as empty. It matches only if bodies
    /// do not matter, or if the recording could not read its body either.
    case unobservable

    /// The size in bytes; nil if there is no body, or one that cannot be read.
    public var size: Int? {
        switch self {
        case .none, .unobservable: nil
        case .data(let data): data.count
        case .file(_, let size): size
        }
    }

    /// Whether there is a body, an empty one included.
    public var isPresent: Bool {
        if case .none = self { false } else { true }
    }
}

extension URLRequest {
    /// A view that keeps neither the order nor the duplicates of fields, nor a body in a file.
    public init(_ request: TransportRequest) {
        self.init(url: request.url)
        self.setMethod(request.method)
        self.headers = request.headers
        self.loading = request.loading
        if case .data(let data) = request.body { self.httpBody = data }
    }

    /// Sets the method of a new request. Skips GET, which a new request has, because setting a method compares it with all that Foundation
    /// knows.
    mutating func setMethod(_ method: String) {
        if method != "GET" { self.httpMethod = method }
    }

    var loading: TransportRequest.Loading {
        get {
            var loading = TransportRequest.Loading()
            loading.handlesCookies = self.httpShouldHandleCookies
            loading.cachePolicy = self.cachePolicy
            loading.allowsCellularAccess = self.allowsCellularAccess
            loading.networkServiceType = self.networkServiceType
            #if !canImport(FoundationNetworking)
            loading.allowsExpensiveNetworkAccess = self.allowsExpensiveNetworkAccess
            loading.allowsConstrainedNetworkAccess = self.allowsConstrainedNetworkAccess
            #endif
            return loading
        }
        set {
            guard newValue != self.loading else { return }
            self.httpShouldHandleCookies = newValue.handlesCookies
            self.cachePolicy = newValue.cachePolicy
            self.allowsCellularAccess = newValue.allowsCellularAccess
            self.networkServiceType = newValue.networkServiceType
            #if !canImport(FoundationNetworking)
            self.allowsExpensiveNetworkAccess = newValue.allowsExpensiveNetworkAccess
            self.allowsConstrainedNetworkAccess = newValue.allowsConstrainedNetworkAccess
            #endif
        }
    }
}

extension TransportRequest {
    /// With fields sorted by name, since a `URLRequest` has no order. Does not read a body stream.
    public init(_ request: URLRequest, label: String? = nil) throws {
        guard let url = request.url else {
            throw WiretapeError(.invalidRequest, "a URLRequest without a URL cannot be sent: set one")
        }
        self.init(
            method: request.httpMethod ?? "GET", url: url, headers: request.headers, body: request.httpBody.map { .data($0) } ?? .none,
            label: label, loading: request.loading)
    }

    /// Applies the changes made to a `URLRequest` view of this request. Unchanged parts stay as they are, including duplicates, order and
    /// files. New fields come last, sorted by name. Does not read a body stream.
    func adapted(from view: URLRequest, to adapted: URLRequest) throws -> TransportRequest {
        guard let url = adapted.url else {
            throw WiretapeError(.adapter, "an adapter removed the request's URL: return a request with one")
        }
        var result = self
        result.url = url
        result.method = adapted.httpMethod ?? "GET"
        result.loading = adapted.loading
        result.headers = self.headers.changed(from: view.headers, to: adapted.headers)
        if adapted.httpBodyStream == nil, adapted.httpBody != view.httpBody {
            result.body = adapted.httpBody.map { .data($0) } ?? .none
        }
        return result
    }

    /// - Throws: `WiretapeError` if the request cannot be sent as it is, or would inject header lines.
    func check() throws {
        guard !self.method.isEmpty, self.method.utf8.allSatisfy(HTTPSession.Headers.isTokenCharacter) else {
            throw WiretapeError(.invalidRequest, "\"\(self.method)\" is not a method: use one of HTTPMethod, such as .get")
        }
        guard let scheme = self.url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw WiretapeError(
                .invalidRequest, "\"\(LogURL.text(self.url))\" is not an http or https URL: begin it with \"https://\" or \"http://\"")
        }
        guard self.url.host?.isEmpty == false else {
            throw WiretapeError(.invalidRequest, "\"\(LogURL.text(self.url))\" has no host: write one after \"\(scheme)://\"")
        }
        try self.headers.validated()
    }
}

extension HTTPSession.Headers {
    /// Applies the changes made to a view of these fields in which each name is unique.
    ///
    /// Unchanged names keep all their fields, changed names keep their first position, and new names come last, sorted.
    func changed(from old: HTTPSession.Headers, to new: HTTPSession.Headers) -> HTTPSession.Headers {
        var result = self
        for field in old where new.value(for: field.name) == nil { result.remove(name: field.name) }
        for field in new.sorted() where old.value(for: field.name) != field.value {
            result.update(name: result.first { $0.isNamed(field.name) }?.name ?? field.name, value: field.value)
        }
        return result
    }
}
