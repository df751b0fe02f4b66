public import Foundation
public import Wiretape

// What code asks Alamofire's errors, of errors that have codes instead of cases.
extension CodedError where Code == HTTPSession.ErrorCode {
    public var isExplicitlyCancelledError: Bool { self.code == .cancelled }
    public var isSessionTaskError: Bool { self.networkFailure != nil }
    public var isResponseValidationError: Bool { self.code == .validation }
    public var isResponseSerializationError: Bool { self.code == .serialization }
    public var isRequestAdaptationError: Bool { self.code == .adapter }
    public var isRequestRetryError: Bool { self.code == .retrier }
    public var isInvalidURLError: Bool { self.cause is URLConversionError }
    public var isParameterEncodingError: Bool { self.cause is ParameterEncodingError }
    public var isMultipartEncodingError: Bool { self.cause is FormDataError }
    public var isServerTrustEvaluationError: Bool { self.transportFailure?.cause is ServerTrustError || self.cause is ServerTrustError }
    public var isDownloadedFileMoveError: Bool { self.code == .file }

    /// The error behind it.
    public var underlyingError: (any Error)? { self.cause }

    /// The status that validation refused.
    public var responseCode: Int? { (self.cause as? ValidationError)?.status }
}

extension Error {
    /// As an error of a request; nil for any other.
    public var asAFError: AFError? { self as? AFError }

    /// As an error of a request, or one with this error behind it.
    func asAFError(or other: @autoclosure () -> AFError) -> AFError { self as? AFError ?? other() }
}
