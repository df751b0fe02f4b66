public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// An event in the life of one request of a session.
    public struct Event: Sendable {
        public enum Kind: Sendable {
            case created
            /// The adapters have run.
            case adapted(URLRequest)
            /// An attempt is sent.
            case started(TransportRequest)
            /// An event of the transport, chunks and progress included.
            case transport(TransportEvent)
            case redirected(from: Response, to: URLRequest?)
            case validated(error: (any Error)?)
            /// The request will be sent again.
            case retried(count: Int, after: Duration, dueTo: any Error)
            case suspended
            case resumed
            case cancelled
            /// A serializer has finished.
            case serialized(duration: Duration, error: (any Error)?)
            case finished(error: (any Error)?)
        }

        /// The ID of the request.
        public var requestID: UUID
        public var kind: Kind

        public init(requestID: UUID, kind: Kind) {
            self.requestID = requestID
            self.kind = kind
        }
    }
}

extension HTTPSession.Event.Kind {
    /// The event in a few words, without anything that may be a secret: no bodies, header values or query values.
    public var summary: String {
        switch self {
        case .created: "created"
        case .adapted(let request): "adapted \(Self.line(request))"
        case .started(let request):
            "started \(request.method) \(LogURL.text(request.url))\(request.body.size.map { ", \($0) bytes" } ?? "")"
        case .transport(let event): event.summary
        case .redirected(let response, let request):
            "redirected by \(response.status), \(request.map { "to \(Self.line($0))" } ?? "not followed")"
        case .validated(let error): "validated\(Self.suffix(error))"
        case .retried(let count, let delay, let error): "retry \(count) after \(delay.secondsText) s\(Self.suffix(error))"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .cancelled: "cancelled"
        case .serialized(let duration, let error): "serialized in \(duration.secondsText) s\(Self.suffix(error))"
        case .finished(let error): "finished\(Self.suffix(error))"
        }
    }

    private static func line(_ request: URLRequest) -> String {
        "\(request.httpMethod ?? "GET") \(request.url.map(LogURL.text) ?? "nowhere")"
    }

    /// The kind of an error, since its message may quote the response.
    private static func suffix(_ error: (any Error)?) -> String {
        guard let error else { return "" }
        if let failure = error as? TransportFailure { return ", failed: \(failure.kind.word)" }
        if error is CancellationError { return ", failed: cancelled" }
        let system = error as NSError
        return ", failed: \(type(of: error) == NSError.self ? system.domain : String(describing: type(of: error))) \(system.code)"
    }
}

extension TransportEvent {
    fileprivate var summary: String {
        switch self {
        case .sent(let count, let total): "sent \(count) of \(total) bytes"
        case .interim(let status, _): "interim \(status)"
        case .head(let response): "head \(response.status) of \(LogURL.text(response.url))\(response.source.note)"
        case .chunk(let data): "chunk of \(data.count) bytes"
        case .trailers(let fields): "trailers, \(fields.count)"
        case .metrics: "metrics"
        case .end: "end"
        case .failed(let failure): "failed: \(failure.kind.word)"
        }
    }
}

extension ExchangeSource {
    fileprivate var note: String {
        switch self {
        case .live: ""
        case .recorded(_, let id): ", recorded as \(id)"
        case .replayed(_, let id): ", replayed from \(id)"
        case .stub: ", from a stub"
        }
    }
}

/// A URL for logs and messages.
enum LogURL {
    /// The URL without user, password and fragment, and with only the names of its query: values may be secrets.
    static func text(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
        let names = (parts.percentEncodedQuery ?? "").split(separator: "&").map { pair in
            pair.firstIndex(of: "=").map { "\(pair[..<$0])=…" } ?? "…"
        }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        let text = (parts.string ?? "") + (names.isEmpty ? "" : "?" + names.joined(separator: "&"))
        return text.utf8.count <= self.limit ? text : String(text.prefix(self.limit)) + "…"
    }

    /// A longer text is cut to this many characters.
    private static let limit = 500
}
