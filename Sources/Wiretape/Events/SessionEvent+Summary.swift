internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension SessionEvent.Kind {
    /// The event in a few words, without anything that may be a secret: no bodies, no values of headers and queries.
    public var summary: String {
        switch self {
        case .created: "created"
        case .adapted(let request): "adapted \(Self.line(request))"
        case .started(let request):
            "started \(request.method) \(LogURL.text(request.url))\(request.body.size.map { ", \($0) octets" } ?? "")"
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

    /// The kind of an error: its text may quote what came.
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
        case .sent(let octets, let all): "sent \(octets) of \(all) octets"
        case .interim(let status, _): "interim \(status)"
        case .head(let response): "head \(response.status) of \(LogURL.text(response.url))\(response.source.note)"
        case .chunk(let data): "chunk of \(data.count) octets"
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
