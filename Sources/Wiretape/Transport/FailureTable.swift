internal import CassetteModel

/// What the codes of `NSURLErrorDomain` stand for: not the same on all platforms, so that a kind is what is recorded and compared.
struct FailureTable: Sendable {
    private let kinds: [Int: Failure.Kind]
    /// Nil where the code says enough.
    private let whenAnswered: [Int: Failure.Kind]
    /// A code that stands for whatever else there is.
    private let other: (plain: Failure.Kind, secure: Failure.Kind)

    /// - Parameters:
    ///   - isAnswered: whether a response had come.
    ///   - isSecure: whether the URL is an https one.
    func kind(of code: Int, isAnswered: Bool, isSecure: Bool) -> Failure.Kind {
        if isAnswered, let kind = self.whenAnswered[code] { return kind }
        return self.kinds[code] ?? (isAnswered ? .truncated : isSecure ? self.other.secure : self.other.plain)
    }

    /// libcurl's codes as FoundationNetworking maps them. Those it has no code for, TLS and a body cut short among them, are -1.
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
        // The connection went away in the middle of the answer.
        whenAnswered: [-1005: .truncated], other: (plain: .malformed, secure: .malformed))

    static var current: FailureTable {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }
}
