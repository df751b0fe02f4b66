public import Foundation

/// What happens to an exchange on its way.
public enum TransportEvent: Sendable {
    /// So many octets of the body have gone out, of all.
    case sent(Int64, of: Int64)
    /// A 1xx response (RFC 9110, 15.2).
    case interim(status: Int, headers: HTTPHeaders)
    case head(HTTPResponse)
    /// The next octets of the body, free of codings; as they came, not cut or joined.
    case chunk(Data)
    case trailers(HTTPHeaders)
    /// How long it took: what the platform measured, or what the cassette says.
    case metrics(ExchangeMetrics)
    case end
    case failed(TransportFailure)

    /// Whether nothing comes behind it.
    public var isLast: Bool {
        switch self {
        case .end, .failed: true
        case .sent, .interim, .head, .chunk, .trailers, .metrics: false
        }
    }
}
