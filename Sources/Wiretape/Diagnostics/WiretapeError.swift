public import TapeBytes
public import CassetteModel
public import CassettePlayback
public import Foundation

/// Why a request has no response, or no response of the requested kind.
///
/// Callers branch on `code`; `message` is for people. The cause is a `TransportFailure`, or the error of a serializer or an adapter.
public typealias WiretapeError = CodedError<HTTPSession.ErrorCode>

extension HTTPSession {
    /// A kind of error; more kinds may be added.
    public struct ErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case invalidRequest, requestBody, adapter, cancelled, timedOut, network, noMatch, unserved, unsupported, redirect, validation
            case serialization, file, stream, webSocket, retrier
        }

        private var value: Value

        /// A URL, a header field, parameters or a method that cannot be sent.
        public static var invalidRequest: Self { Self(value: .invalidRequest) }
        /// The body could not be read or encoded.
        public static var requestBody: Self { Self(value: .requestBody) }
        /// An adapter threw.
        public static var adapter: Self { Self(value: .adapter) }
        public static var cancelled: Self { Self(value: .cancelled) }
        /// By a time limit of the session or the request, or as recorded.
        public static var timedOut: Self { Self(value: .timedOut) }
        /// See `networkFailure`.
        public static var network: Self { Self(value: .network) }
        /// No recorded interaction matches the request. See `missReport`.
        public static var noMatch: Self { Self(value: .noMatch) }
        /// The recorded response cannot be replayed.
        public static var unserved: Self { Self(value: .unserved) }
        /// The transport cannot do this on this platform.
        public static var unsupported: Self { Self(value: .unsupported) }
        /// Too many redirects, an unusable target, or a handler's request that cannot be sent.
        public static var redirect: Self { Self(value: .redirect) }
        /// The response is complete, but not acceptable.
        public static var validation: Self { Self(value: .validation) }
        /// The response is complete, but not of the requested kind.
        public static var serialization: Self { Self(value: .serialization) }
        /// A download could not be written or moved to its destination.
        public static var file: Self { Self(value: .file) }
        /// A stream was read too late or twice, or a line is too long.
        public static var stream: Self { Self(value: .stream) }
        /// A WebSocket was used after its close, or read by two tasks at once.
        public static var webSocket: Self { Self(value: .webSocket) }
        /// A retrier replaced the request's error with its own.
        public static var retrier: Self { Self(value: .retrier) }

        public var description: String { "\(self.value)" }
    }
}

extension CodedError where Kind == HTTPSession.ErrorCode {
    /// The transport's failure, if that is the cause.
    public var transportFailure: TransportFailure? { self.cause as? TransportFailure }

    /// The same on every platform and in a cassette; nil if it is not a network failure.
    public var networkFailure: Failure.Kind? {
        guard case .network(let kind) = self.transportFailure?.kind else { return nil }
        return kind
    }

    /// The nearest interactions in the cassette, if none of them matches the request.
    public var missReport: MissReport? {
        guard case .noMatch(let report) = self.transportFailure?.kind else { return nil }
        return report
    }

    public var isCancelled: Bool { self.code == .cancelled }
}

extension WiretapeError {
    init(_ failure: TransportFailure) {
        self.init(Self.code(of: failure.kind), failure.message, cause: failure)
    }

    private static func code(of kind: TransportFailure.Kind) -> Code {
        switch kind {
        case .network(.cancelled): .cancelled
        case .network(.timeout): .timedOut
        case .network: .network
        case .noMatch: .noMatch
        case .unserved: .unserved
        case .unsupported: .unsupported
        case .body: .requestBody
        }
    }

    /// A `WiretapeError`, a `TransportFailure` and a cancellation keep their own code; other errors get `code`.
    init(_ error: any Error, as code: Code) {
        switch error {
        case let error as WiretapeError: self = error
        case let error as TransportFailure: self.init(error)
        case is CancellationError: self = .cancelled
        default: self.init(code, "\(error)", cause: error)
        }
    }

    static var cancelled: WiretapeError { WiretapeError(TransportFailure.cancelled()) }
}

extension CodedError: LocalizedError {
    public var errorDescription: String? { self.message }
}
