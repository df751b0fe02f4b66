public import Foundation
public import Wiretape

// The questions that code asks Alamofire's errors, for errors that have codes instead of cases.
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

    /// The cause of the error.
    public var underlyingError: (any Error)? { self.cause }

    /// The status that validation rejected.
    public var responseCode: Int? { (self.cause as? ValidationError)?.status }
}

extension Error {
    /// This error as an error of a request; nil for any other error.
    public var asAFError: AFError? { self as? AFError }

    /// This error as an error of a request, or else another error.
    func asAFError(or other: @autoclosure () -> AFError) -> AFError { self as? AFError ?? other() }
}
