internal import CassetteStore
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Makes a request's draft when the request starts.
struct RequestSource: Sendable {
    /// Whether it reads files or streams, and so must not run on the caller's thread.
    var isBlocking = false
    var make: @Sendable () throws -> RequestDraft

    /// A closure of the caller that changes a request after it is made.
    typealias Modifier = @Sendable (inout URLRequest) throws -> Void

    /// A URL, a method and fields, without a `URLRequest`.
    static func plain(
        _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?,
        body: @escaping @Sendable () throws -> RequestContent = { .none },
        isBlocking: Bool = false, _ modifier: Modifier?
    ) -> RequestSource {
        RequestSource(isBlocking: isBlocking) {
            let content = try body()
            var headers = headers ?? HTTPHeaders()
            if let type = content.type, !headers.contains(name: "Content-Type") { headers.add(name: "Content-Type", value: type) }
            let request = TransportRequest(method: method.rawValue, url: try url.asURL(), headers: headers, body: content.body)
            var draft = RequestDraft(request, spool: content.spool)
            if let modifier { try draft.modify(modifier) }
            return draft
        }
    }

    /// A URL with parameters, which are encoded into a `URLRequest`; the caller's fields keep their order.
    static func encoded(
        _ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modifier: Modifier?,
        _ encode: @escaping @Sendable (URLRequest) throws -> URLRequest
    ) -> RequestSource {
        RequestSource {
            let plain = TransportRequest(method: method.rawValue, url: try url.asURL(), headers: headers ?? HTTPHeaders())
            try plain.headers.validated()
            let view = URLRequest(plain)
            var draft = RequestDraft(try plain.adapted(from: view, to: try encode(view)))
            if let modifier { try draft.modify(modifier) }
            return draft
        }
    }

    /// A `URLRequest` or a router; `body` replaces its own body.
    static func converted(
        _ convertible: any URLRequestConvertible, body: (@Sendable () throws -> RequestContent)? = nil, isBlocking: Bool = false,
        spoolFolder: URL?
    ) -> RequestSource {
        RequestSource(isBlocking: isBlocking) {
            let given = try convertible.asURLRequest()
            var draft = RequestDraft(try TransportRequest(given, label: convertible.requestLabel))
            draft.idleTimeout = given.ownTimeout
            let content = try body?() ?? given.httpBodyStream.map { try RequestContent(spooling: $0, folder: spoolFolder) }
            guard let content else { return draft }
            draft.request.body = content.body
            draft.spool = content.spool
            if let type = content.type { draft.request.headers.update(name: "Content-Type", value: type) }
            return draft
        }
    }
}

/// A request before adapters and cookies.
struct RequestDraft: Sendable {
    var request: TransportRequest
    /// Overrides `Timeouts.idle`.
    var idleTimeout: Duration?
    /// Keeps the body's temporary file until the request ends.
    var spool: TemporaryFile?

    init(_ request: TransportRequest, idleTimeout: Duration? = nil, spool: TemporaryFile? = nil) {
        self.request = request
        self.idleTimeout = idleTimeout
        self.spool = spool
    }

    mutating func modify(_ modifier: RequestSource.Modifier) throws {
        let view = URLRequest(self.request)
        var modified = view
        try modifier(&modified)
        self.request = try self.request.adapted(from: view, to: modified)
        self.idleTimeout = modified.ownTimeout
    }
}

/// Where an upload goes: a URL with a method and fields, or a request of the caller.
enum UploadTarget: Sendable {
    case plain(any URLConvertible, HTTPMethod, HTTPHeaders?, RequestSource.Modifier?)
    case converted(any URLRequestConvertible)

    init(_ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modifier: RequestSource.Modifier?) {
        self = .plain(url, method, headers, modifier)
    }

    init(_ request: any URLRequestConvertible) { self = .converted(request) }

    func source(_ content: @escaping @Sendable () throws -> RequestContent, isBlocking: Bool, spoolFolder: URL?) -> RequestSource {
        switch self {
        case .plain(let url, let method, let headers, let modifier):
            .plain(url, method, headers, body: content, isBlocking: isBlocking, modifier)
        case .converted(let request): .converted(request, body: content, isBlocking: isBlocking, spoolFolder: spoolFolder)
        }
    }
}

extension URLRequest {
    /// Nil if it is Foundation's default. Limited to a billion seconds: a `Duration` cannot be made from more, such as `infinity`.
    var ownTimeout: Duration? { self.timeoutInterval == 60 ? nil : .seconds(min(max(0, self.timeoutInterval), 1_000_000_000)) }
}
