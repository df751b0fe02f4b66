package import CassetteModel
internal import CassettePlayback
internal import CassetteFormat
internal import TapeBytes

/// A request as the client sent it.
package struct RequestFacts: Sendable {
    package var method: String
    /// Absolute.
    package var url: String
    package var version: HTTPVersion
    package var headers: HeaderFields
    /// As sent, with its content codings; nil if it has not been read.
    package var body: [UInt8]?
    /// The request has a body that was not read, because it is too long. No rule that looks at it applies then.
    package var bodyIsUnread = false
    /// What draws take for a body that was not read: its first bytes, as sent, and its size if that is known. Nil if it cannot be known.
    package var bodyBeginning: (bytes: [UInt8], size: Int?)?
    package var opensWebSocket: Bool
    package var isGRPC: Bool
    /// The request came inside TLS that this side ended: faults of TLS come too late for it.
    package var tlsIsOpen = false

    package init(
        method: String, url: String, version: HTTPVersion = .http11, headers: HeaderFields = HeaderFields(), body: [UInt8]? = nil,
        opensWebSocket: Bool = false, isGRPC: Bool = false
    ) {
        self.method = method
        self.url = url
        self.version = version
        self.headers = headers
        self.body = body
        self.opensWebSocket = opensWebSocket
        self.isGRPC = isGRPC
    }
}

extension RequestFacts {
    /// Bytes of a request's body that rules look at. Rules that look at the body of a longer one do not apply to it.
    package static let bodyLimit = 1 << 20

    /// The request as a run looks at it: of a body that is too long, it has the beginning alone.
    var withoutLongBody: RequestFacts {
        guard let body = self.body, body.count > Self.bodyLimit else { return self }
        var facts = self
        facts.body = nil
        facts.bodyIsUnread = true
        facts.bodyBeginning = (Array(body.prefix(Self.bodyLimit)), self.headers.contains("content-length") ? body.count : nil)
        return facts
    }

    /// A request that somebody writes down, with a Host field.
    ///
    /// - Parameter url: absolute, with `http` or `https`; nil if it is not.
    package init?(method: String, writtenURL url: String, body: [UInt8]?) {
        guard var parts = URLParts(url), ["http", "https"].contains(parts.scheme), !parts.authority.isEmpty,
            url.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
        else { return nil }
        if parts.path.isEmpty { parts.path = "/" }
        var headers = HeaderFields()
        headers.append(name: "Host", value: parts.authority)
        self.init(method: method, url: parts.text, headers: headers, body: body)
    }
}

/// A request while rules look at it: keeps what was found out, and decodes its body once.
struct RequestView {
    let facts: RequestFacts

    private var knownHost: String?
    private var knownContent: [UInt8]??
    private var knownText: [UInt8]??
    private var knownDocument: JSONDocument??

    init(_ facts: RequestFacts) {
        self.facts = facts
    }

    /// The tunnel of a request, as faults of TLS see it; nil for a request without TLS.
    init?(tunnelOf request: RequestFacts) {
        guard let parts = URLParts(request.url), parts.scheme.lowercased() == "https" else { return nil }
        let authority = parts.authority
        let port = authority.drop { $0 != "]" }.isEmpty ? authority[...] : authority.drop { $0 != "]" }
        self.init(RequestFacts(method: "CONNECT", url: "https://\(authority)\(port.contains(":") ? "" : ":443")/"))
    }

    var host: String {
        mutating get {
            if let host = self.knownHost { return host }
            let host = FilterExpression.host(of: self.facts.url)
            self.knownHost = host
            return host
        }
    }

    /// The body without its content codings; nil if there is none, it was not read, or its codings cannot be removed.
    var content: [UInt8]? {
        mutating get {
            if let content = self.knownContent { return content }
            let content = self.facts.body.flatMap { $0.isEmpty ? nil : CodedBody.decoded($0, self.facts.headers) }
            self.knownContent = .some(content)
            return content
        }
    }

    /// The content as JSON; nil if it is not JSON in UTF-8.
    var document: JSONDocument? {
        mutating get {
            if let document = self.knownDocument { return document }
            let document = self.content.flatMap { try? JSONDocument($0.starts(with: [0xEF, 0xBB, 0xBF]) ? Array($0.dropFirst(3)) : $0) }
            self.knownDocument = .some(document)
            return document
        }
    }

    /// Searches the content, and its characters in UTF-8 if it declares another charset. A body whose codings cannot be removed is searched as
    /// it was sent.
    mutating func bodyMatches(_ pattern: FilterPattern) -> Bool {
        guard let body = self.facts.body, !body.isEmpty else { return false }
        guard let content = self.content else { return pattern.matches(body) }
        if pattern.matches(content) { return true }
        if self.knownText == nil {
            let field = self.facts.headers.firstIndex(of: "content-type").map(self.facts.headers.valueBytes)
            let label = field.flatMap { MIMEParameters($0)["charset"]?.value }
            let name = label.map { String(decoding: $0.prefix(64), as: UTF8.self).lowercased() }
            self.knownText = .some(name.flatMap { Charset.text(content, label: $0) }.map { Array($0.utf8) })
        }
        guard let text = self.knownText ?? nil else { return false }
        return pattern.matches(text)
    }
}
