#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import CassetteModel
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Wiretape

/// The kinds of failures, the same as of every other transport, of the errors of async-http-client and what it stands on.
enum NetworkError {
    static func failure(_ error: any Error, of request: TransportRequest, isAnswered: Bool) -> any Error {
        if error is TransportFailure || error is CancellationError { return error }
        let kind = self.kind(error, isAnswered: isAnswered)
        guard kind != .cancelled else { return TransportFailure.cancelled() }
        let place = "\(request.url.host ?? "")\(request.url.port.map { ":\($0)" } ?? "")"
        return TransportFailure(.network(kind), "\(request.method) to \"\(place)\" failed: \(self.words(error))", cause: error)
    }

    private static func kind(_ error: any Error, isAnswered: Bool) -> Failure.Kind {
        switch error {
        case let error as HTTPClientError: self.kind(error, isAnswered: isAnswered)
        case let error as NIOConnectionError: self.kind(error)
        case is PinnedKeys.Mismatch, is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: isAnswered ? .truncated : .tls
        case let error as HTTPParserError: isAnswered && error == .invalidEOFState ? .truncated : .malformed
        case let error as IOError: self.kind(error, isAnswered: isAnswered)
        case let error as ChannelError:
            switch error {
            case .connectTimeout: .timeout
            default: isAnswered ? .truncated : .reset
            }
        default: isAnswered ? .truncated : .reset
        }
    }

    private static func kind(_ error: HTTPClientError, isAnswered: Bool) -> Failure.Kind {
        switch error {
        case .cancelled, .requestStreamCancelled: .cancelled
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout: .timeout
        case .tlsHandshakeTimeout: .tls
        case .remoteConnectionClosed, .uncleanShutdown: isAnswered ? .truncated : .reset
        case .bodyLengthMismatch: isAnswered ? .truncated : .reset
        default: .malformed
        }
    }

    private static func kind(_ error: NIOConnectionError) -> Failure.Kind {
        if error.dnsAError != nil || error.dnsAAAAError != nil, error.connectionErrors.isEmpty { return .dns }
        let codes = error.connectionErrors.compactMap { ($0.error as? IOError)?.errnoCode }
        if codes.contains(ECONNREFUSED) { return .refused }
        return error.connectionErrors.contains { $0.error is ChannelError } ? .timeout : .unreachable
    }

    private static func kind(_ error: IOError, isAnswered: Bool) -> Failure.Kind {
        switch error.errnoCode {
        case ECONNREFUSED: .refused
        case ENETUNREACH, EHOSTUNREACH: .unreachable
        default: isAnswered ? .truncated : .reset
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError: error.connectionErrors.first.map { "\($0.error)" } ?? "the name could not be resolved"
        default: "\(error)"
        }
    }
}
#endif
