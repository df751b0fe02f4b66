internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension RequestSource {
    /// What a closure of the caller's does to a request that has been made.
    typealias Modifier = @Sendable (inout URLRequest) throws -> Void

    /// A URL, a method and fields: no `URLRequest` is needed for them.
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

    /// Parameters are put into a `URLRequest`; fields that the caller gave keep their order.
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

    /// A `URLRequest` or a router; a body of its own goes unless another is given.
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

extension RequestDraft {
    mutating func modify(_ modifier: RequestSource.Modifier) throws {
        let view = URLRequest(self.request)
        var modified = view
        try modifier(&modified)
        self.request = try self.request.adapted(from: view, to: modified)
        self.idleTimeout = modified.ownTimeout
    }
}

extension URLRequest {
    /// Nil where it is Foundation's own. More than a billion seconds, as `infinity`, are past what a `Duration` can be made of.
    var ownTimeout: Duration? { self.timeoutInterval == 60 ? nil : .seconds(min(max(0, self.timeoutInterval), 1_000_000_000)) }
}
