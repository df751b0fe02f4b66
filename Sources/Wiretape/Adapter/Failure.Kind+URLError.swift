internal import CassetteModel
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Failure.Kind {
    /// The code with which URLSession itself reports such a failure.
    func urlErrorCode(on platform: URLSessionPlatform = .current) -> URLError.Code {
        switch self {
        case .dns: .cannotFindHost
        case .refused: .cannotConnectToHost
        case .unreachable: platform == .apple ? .notConnectedToInternet : .cannotConnectToHost
        case .reset: .networkConnectionLost
        case .timeout: .timedOut
        case .tls: platform == .apple ? .secureConnectionFailed : .unknown
        case .truncated: platform == .apple ? .networkConnectionLost : .unknown
        case .cancelled: .cancelled
        case .malformed: platform == .apple ? .cannotParseResponse : .unknown
        }
    }
}
