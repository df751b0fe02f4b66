#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import CassetteModel
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Wiretape

/// Maps the errors of async-http-client and its dependencies to kinds of failures that are the same for every transport.
enum NetworkError {
    static func failure(_ error: any Error, of request: TransportRequest, isAnswered: Bool) -> any Error {
        if error is TransportFailure || error is CancellationError { return error }
        let kind = self.kind(error, isAnswered: isAnswered)
        guard kind != .cancelled else { return TransportFailure.cancelled() }
        let words = (error as? PinnedKeys.Mismatch)?.description ?? self.words(error, kind, isAnswered: isAnswered)
        return TransportFailure(.network(kind), "\(request.method) to \"\(self.place(request))\" failed: \(words)", cause: error)
    }

    /// The host and the port, which show the place but not the request.
    static func place(_ request: TransportRequest) -> String {
        "\(request.url.host ?? "")\(request.url.port.map { ":\($0)" } ?? "")"
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

    /// The problem and the next step, in our own words. NIO's words are in the error's cause.
    private static func words(_ error: any Error, _ kind: Failure.Kind, isAnswered: Bool) -> String {
        switch kind {
        case .dns: "its name could not be resolved; check the name and the network"
        case .refused: "nothing accepts connections there; start the server, or check the port"
        case .unreachable: "there is no way to it; check the network"
        case .reset, .unprocessed: "the connection was closed before a response came; send it again"
        case .timeout: "no connection came about in time; check the network, or wait longer"
        case .tls: self.words(ofTLS: error)
        case .truncated: "the connection was closed before the whole response had come"
        case .cancelled: "the request was cancelled"
        case .malformed: self.isRequest(error) ? "it is not a request that can be sent: \(error)" : "the response is not valid HTTP"
        }
    }

    private static func words(ofTLS error: any Error) -> String {
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("unableToValidateCertificate") {
            return "its certificate is not of a trusted authority; name the authority in Configuration.trustedRoots"
        }
        if text.contains("failedToValidateHostname") || text.contains("HostnameValidation") {
            return "its certificate is for other names; use one of these"
        }
        if text.contains("CERTIFICATE_REQUIRED") || text.contains("HANDSHAKE_FAILURE") || text.contains("BAD_CERTIFICATE") {
            return "it refused the handshake; it may ask for Configuration.clientIdentity"
        }
        return "the TLS handshake failed; check that it speaks TLS on this port"
    }

    /// Whether the error means that the client refused to send the request.
    private static func isRequest(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError:
            [
                .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath, .identityCodingIncorrectlyPresent, .invalidHeaderFieldNames([]),
                .traceRequestWithBody,
            ].contains(error)
        default: false
        }
    }
}
#endif
