@testable import TapeTLS

/// The error that a body throws; nil where it throws none. `#expect(throws:)` cannot take a body whose value may not be copied.
func certificateError(_ body: () throws -> Void) -> CertificateError? {
    do {
        try body()
        return nil
    } catch {
        return error as? CertificateError
    }
}
