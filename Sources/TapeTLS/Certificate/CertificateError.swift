public import TapeBytes

/// What went wrong with a certificate, a key or an authority.
///
/// Callers branch on `code`; `message` is for people. What happens on a connection is a `TLSFailure`.
public typealias CertificateError = CodedError<CertificateErrorCode>

/// A kind of error; more kinds may come.
public struct CertificateErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value {
        case notFound, damaged, encrypted, mismatch, notAuthority, expired, noName, unsafePath, unreadable, unwritable, library
    }

    private var value: Value

    /// A file that is needed is not there.
    public static var notFound: Self { Self(value: .notFound) }
    /// Not a certificate or key, or cut short.
    public static var damaged: Self { Self(value: .damaged) }
    /// A key behind a password.
    public static var encrypted: Self { Self(value: .encrypted) }
    /// Certificate and key do not belong together.
    public static var mismatch: Self { Self(value: .mismatch) }
    /// A certificate that may not sign others.
    public static var notAuthority: Self { Self(value: .notAuthority) }
    /// Its time is over, or has not come yet.
    public static var expired: Self { Self(value: .expired) }
    /// Nothing a certificate could be issued for.
    public static var noName: Self { Self(value: .noName) }
    /// A symbolic link, or something that is no file, where a key or certificate is wanted.
    public static var unsafePath: Self { Self(value: .unsafePath) }
    /// The file is there and could not be read.
    public static var unreadable: Self { Self(value: .unreadable) }
    /// The file could not be created or written.
    public static var unwritable: Self { Self(value: .unwritable) }
    /// OpenSSL refused something that should always work.
    public static var library: Self { Self(value: .library) }

    public var description: String { "\(self.value)" }
}

extension CodedError where Kind == CertificateErrorCode {
    /// For a call that fails only without memory, without randomness or under a policy that forbids the algorithm.
    static func library(_ task: String) -> Self {
        let reasons = ErrorQueue.drain()
        let why = reasons.isEmpty ? "it gives no reason" : reasons.joined(separator: "; ")
        return Self(.library, "OpenSSL cannot \(task): \(why); try \"openssl version -a\" and look at the configuration it names")
    }
}
