public import CassetteModel
public import CassettePlayback
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Why an exchange came to no answer, or to none that is whole.
///
/// Kinds are the same on every platform and in a cassette; codes of `URLError` differ from system to system.
public struct TransportFailure: Error, Sendable {
    public enum Kind: Sendable, Hashable {
        /// As recorded, or as it happened.
        case network(Failure.Kind)
        /// Nothing recorded answers the request.
        case noMatch(MissReport)
        /// What was recorded cannot be given.
        case unserved(UnservedAnswer)
        /// The transport cannot do what was asked for, or the process would die of it.
        case unsupported
        /// The body of the request could not be read.
        case body
    }

    public var kind: Kind
    /// What happened to which request, and what to do next.
    public var message: String
    /// What the system said, if it did.
    public var underlying: (any Error)?

    public init(_ kind: Kind, _ message: String, underlying: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.underlying = underlying
    }

    public static func cancelled(_ message: String = "the request was cancelled") -> Self { Self(.network(.cancelled), message) }
}

extension TransportFailure.Kind {
    /// One word for logs and tables: names nothing of the request.
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
    /// The domain of failures that are none of the network: a miss, an answer that cannot be given, what the platform cannot do.
    public static let errorDomain = "WiretapeErrorDomain"

    /// What a session of others fails with.
    ///
    /// Failures of the network are those of `NSURLErrorDomain`, with the code that URLSession itself would give here, so that code which
    /// looks at codes, a retry policy for one, does as it does without us. All others have a domain of their own, so that nobody takes them
    /// for a fault that passes. The message is the description; the failure is the underlying error.
    func sessionError(for url: URL?) -> any Error {
        var information: [String: Any] = [NSLocalizedDescriptionKey: self.message, NSUnderlyingErrorKey: self]
        information[NSURLErrorFailingURLErrorKey] = url
        switch self.kind {
        case .network(let kind):
            // On Linux an NSError of that domain is no URLError.
            return URLError(kind.urlErrorCode(), userInfo: information)
        case .noMatch, .unserved, .unsupported, .body:
            return NSError(domain: Self.errorDomain, code: self.errorCode, userInfo: information)
        }
    }

    /// The failure that a session of others was given, from the error its user holds.
    public init?(_ error: any Error) {
        if let failure = error as? TransportFailure {
            self = failure
        } else if let failure = (error as NSError).userInfo[NSUnderlyingErrorKey] as? TransportFailure {
            self = failure
        } else {
            return nil
        }
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
