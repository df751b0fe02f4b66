public import CassetteModel
public import CassettePlayback
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Why an exchange has no response, or an incomplete one.
///
/// Kinds are the same on every platform and in a cassette; codes of `URLError` differ from platform to platform.
public struct TransportFailure: Error, Sendable {
    public enum Kind: Sendable, Hashable {
        /// A failure of the network, live or recorded.
        case network(Failure.Kind)
        /// No recorded exchange matches the request.
        case noMatch(MissReport)
        /// The recorded response cannot be replayed.
        case unserved(UnservedAnswer)
        /// The transport cannot do what was asked for, or it would crash the process.
        case unsupported
        /// The body of the request could not be read.
        case body
    }

    public var kind: Kind
    /// Names the request, the problem and the next step.
    public var message: String
    /// The error of the system, if there was one.
    public var cause: (any Error)?

    public init(_ kind: Kind, _ message: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    public static func cancelled(_ message: String = "the request was cancelled") -> Self { Self(.network(.cancelled), message) }
}

extension TransportFailure.Kind {
    /// One word for logs and tables, without anything of the request.
    var word: String {
        switch self {
        case .network(let kind): kind.rawValue
        case .noMatch: "noMatch"
        case .unserved: "unserved"
        case .unsupported: "unsupported"
        case .body: "body"
        }
    }
}

extension TransportFailure {
    /// The domain of failures other than network failures: a miss, a response that cannot be replayed, something that the platform cannot
    /// do.
    public static let errorDomain = "WiretapeErrorDomain"

    /// The error that a foreign `URLSession` fails with.
    ///
    /// Network failures are in `NSURLErrorDomain`, with the code that URLSession itself would give on this platform, so that code that
    /// reads codes, such as a retry policy, works unchanged. All others have their own domain, so that they are not mistaken for transient
    /// faults. The message is the description; the failure is the cause.
    func sessionError(for url: URL?) -> any Error {
        var information: [String: Any] = [NSLocalizedDescriptionKey: self.message, NSUnderlyingErrorKey: self]
        information[NSURLErrorFailingURLErrorKey] = url
        switch self.kind {
        case .network(let kind):
            // On Linux an NSError of that domain does not bridge to URLError.
            return URLError(kind.urlErrorCode(), userInfo: information)
        case .noMatch, .unserved, .unsupported, .body:
            return NSError(domain: Self.errorDomain, code: self.errorCode, userInfo: information)
        }
    }

    /// Recovers the failure that a foreign `URLSession` was given from the error that its user received; nil if there was none.
    public init?(_ error: any Error) {
        if let failure = error as? TransportFailure {
            self = failure
        } else if let failure = (error as NSError).userInfo[NSUnderlyingErrorKey] as? TransportFailure {
            self = failure
        } else {
            return nil
        }
    }

    /// The failure that an error of the system, or of a caller's transport, stands for.
    ///
    /// - Parameter isAnswered: whether a response had begun.
    init(_ error: any Error, of request: TransportRequest, isAnswered: Bool) {
        if let failure = TransportFailure(error) {
            self = failure
            return
        }
        if error is CancellationError {
            self = .cancelled()
            return
        }
        let system = error as NSError
        let isSecure = request.url.scheme?.lowercased() == "https"
        let kind: Kind =
            system.domain == NSURLErrorDomain
            ? .network(FailureTable.current.kind(of: system.code, isAnswered: isAnswered, isSecure: isSecure)) : .unsupported
        let text = error is any LocalizedError || system.domain == NSURLErrorDomain ? system.localizedDescription : "\(error)"
        self.init(kind, "\(request.method) \"\(LogURL.text(request.url))\" failed: \(text)", cause: error)
    }

    /// Stays the same from version to version.
    private var errorCode: Int {
        switch self.kind {
        case .network: 0
        case .noMatch: 1
        case .unserved: 2
        case .unsupported: 3
        case .body: 4
        }
    }
}

extension Failure.Kind {
    /// The code with which URLSession itself reports such a failure on a platform.
    func urlErrorCode(on platform: URLSessionPlatform = .current) -> URLError.Code {
        switch self {
        case .dns: .cannotFindHost
        case .refused: .cannotConnectToHost
        case .unreachable: platform == .apple ? .notConnectedToInternet : .cannotConnectToHost
        case .reset, .unprocessed: .networkConnectionLost
        case .timeout: .timedOut
        case .tls: platform == .apple ? .secureConnectionFailed : .unknown
        case .truncated: platform == .apple ? .networkConnectionLost : .unknown
        case .cancelled: .cancelled
        case .malformed: platform == .apple ? .cannotParseResponse : .unknown
        }
    }
}

/// The meaning of the codes of `NSURLErrorDomain`. Codes differ between platforms, so kinds are recorded and compared instead.
struct FailureTable: Sendable {
    private let kinds: [Int: Failure.Kind]
    /// Codes that mean something else after a response has begun.
    private let whenAnswered: [Int: Failure.Kind]
    /// For codes that are not in the table.
    private let other: (plain: Failure.Kind, secure: Failure.Kind)

    /// - Parameters:
    ///   - isAnswered: whether a response had begun.
    ///   - isSecure: whether the scheme of the URL is https.
    func kind(of code: Int, isAnswered: Bool, isSecure: Bool) -> Failure.Kind {
        if isAnswered, let kind = self.whenAnswered[code] { return kind }
        return self.kinds[code] ?? (isAnswered ? .truncated : isSecure ? self.other.secure : self.other.plain)
    }

    /// libcurl's codes as FoundationNetworking maps them. Those that it does not map, such as TLS and truncated bodies, are -1.
    static let linux = FailureTable(
        kinds: [
            -999: .cancelled, -1001: .timeout, -1002: .malformed, -1003: .dns, -1004: .refused, -1005: .reset, -1006: .dns,
            -1009: .unreachable, -1011: .reset,
        ],
        whenAnswered: [:], other: (plain: .malformed, secure: .tls))

    static let apple = FailureTable(
        kinds: [
            -999: .cancelled, -1000: .malformed, -1001: .timeout, -1002: .malformed, -1003: .dns, -1004: .refused, -1005: .reset,
            -1006: .dns, -1009: .unreachable, -1011: .malformed, -1015: .malformed, -1016: .malformed, -1017: .malformed,
            -1018: .unreachable, -1019: .unreachable, -1020: .unreachable, -1022: .tls, -1200: .tls, -1201: .tls, -1202: .tls, -1203: .tls,
            -1204: .tls, -1205: .tls, -1206: .tls,
        ],
        // The connection was lost in the middle of the response.
        whenAnswered: [-1005: .truncated], other: (plain: .malformed, secure: .malformed))

    static var current: FailureTable {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }
}
