public import CassetteModel

/// What came of an attempt that may be repeated.
public enum RetryOutcome: Sendable, Hashable {
    case status(Int, HTTPHeaders)
    case failure(Failure.Kind)
}
