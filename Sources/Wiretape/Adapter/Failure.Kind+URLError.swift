internal import Foundation
internal import TapeCore

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Failure.Kind {
    /// Whose codes are wanted: those of one system for one failure are not those of the other.
    enum Platform: Sendable, CaseIterable {
        case apple, linux

        static var current: Self {
            #if canImport(FoundationNetworking)
            .linux
            #else
            .apple
            #endif
        }
    }

    /// The code with which URLSession itself reports such a failure.
    func urlErrorCode(on platform: Platform = .current) -> URLError.Code {
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
