internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

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
