@testable import TapeTLS

/// The error that a body throws, or nil. `#expect(throws:)` does not accept a body with a noncopyable result.
func certificateError(_ body: () throws -> Void) -> CertificateError? {
    do {
        try body()
        return nil
    } catch {
        return error as? CertificateError
    }
}
