public import CassetteModel
public import CassettePlayback
public import Foundation

/// Why a request has no answer, or none of the kind that was asked for.
///
/// Callers branch on `code`; `message` is for people.
public struct WiretapeError: Error, Sendable, CustomStringConvertible, LocalizedError {
    public var code: Code
    /// What happened to which request, and what to do next.
    public var message: String
    /// What it comes from: a `TransportFailure`, a serializer's error, an adapter's.
    public var underlying: (any Error)?

    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public var description: String { self.message }
    public var errorDescription: String? { self.message }

    /// What the transport said, where the error is of its making.
    public var transportFailure: TransportFailure? { self.underlying as? TransportFailure }

    /// The same on every platform and in a cassette; nil where the network has no part in it.
    public var networkFailure: Failure.Kind? {
        guard case .network(let kind) = self.transportFailure?.kind else { return nil }
        return kind
    }

    /// What came nearest in the cassette, where nothing there answers the request.
    public var missReport: MissReport? {
        guard case .noMatch(let report) = self.transportFailure?.kind else { return nil }
        return report
    }

    public var isCancelled: Bool { self.code == .cancelled }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value {
            case invalidRequest, requestBody, adapter, cancelled, timedOut, network, noMatch, unserved, unsupported, redirect, validation
            case serialization, file, stream, retrier
        }

        private var value: Value

        /// A URL, a header field, parameters or a method that cannot be sent.
        public static var invalidRequest: Self { Self(value: .invalidRequest) }
        /// The body could not be read or encoded.
        public static var requestBody: Self { Self(value: .requestBody) }
        /// An adapter threw.
        public static var adapter: Self { Self(value: .adapter) }
        public static var cancelled: Self { Self(value: .cancelled) }
        /// By a limit of the session, of the request, or as it was recorded.
        public static var timedOut: Self { Self(value: .timedOut) }
        /// See `networkFailure`.
        public static var network: Self { Self(value: .network) }
        /// Nothing recorded answers the request. See `missReport`.
        public static var noMatch: Self { Self(value: .noMatch) }
        /// What was recorded cannot be given.
        public static var unserved: Self { Self(value: .unserved) }
        /// The transport cannot do what was asked for on this platform.
        public static var unsupported: Self { Self(value: .unsupported) }
        /// Too many, to where no request can go, or not as its handler wants.
        public static var redirect: Self { Self(value: .redirect) }
        /// The answer is whole and not acceptable.
        public static var validation: Self { Self(value: .validation) }
        /// The answer is whole and not of the kind that was asked for.
        public static var serialization: Self { Self(value: .serialization) }
        /// A download could not be written or put in its place.
        public static var file: Self { Self(value: .file) }
        /// A stream that was taken too late or twice, or a line without end.
        public static var stream: Self { Self(value: .stream) }
        /// A retrier put an error of its own in place of the request's.
        public static var retrier: Self { Self(value: .retrier) }

        public var description: String { "\(self.value)" }
    }
}

extension WiretapeError {
    init(_ failure: TransportFailure) {
        self.init(Self.code(of: failure.kind), failure.message, underlying: failure)
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

    /// Ours stay what they are; others are told what they happened to.
    init(_ error: any Error, as code: Code) {
        switch error {
        case let error as WiretapeError: self = error
        case let error as TransportFailure: self.init(error)
        case is CancellationError: self = .cancelled
        default: self.init(code, "\(error)", underlying: error)
        }
    }

    static var cancelled: WiretapeError { WiretapeError(TransportFailure.cancelled()) }
}
