public import TapeBytes
internal import COpenSSL

/// An error about a certificate, a key or an authority. Connection errors are `TLSFailure`s.
///
/// Its message: what is wrong, in which file if any, and what to do next.
public typealias CertificateError = CodedError<CertificateErrorCode>

/// A kind of error. More kinds may be added.
public struct CertificateErrorCode: Hashable, Sendable, CustomStringConvertible {
    private enum Value {
        case notFound, damaged, encrypted, mismatch, notAuthority, expired, noName, unsafePath, unreadable, unwritable, library
    }

    private var value: Value

    /// A required file does not exist.
    public static var notFound: Self { Self(value: .notFound) }
    /// Not a certificate or key, or truncated.
    public static var damaged: Self { Self(value: .damaged) }
    /// A key with a password.
    public static var encrypted: Self { Self(value: .encrypted) }
    /// Certificate and key do not belong together.
    public static var mismatch: Self { Self(value: .mismatch) }
    /// A certificate that cannot sign others.
    public static var notAuthority: Self { Self(value: .notAuthority) }
    /// Expired, or not valid yet.
    public static var expired: Self { Self(value: .expired) }
    /// There is no name to issue a certificate for.
    public static var noName: Self { Self(value: .noName) }
    /// A symbolic link, or not a regular file, in place of a key or certificate.
    public static var unsafePath: Self { Self(value: .unsafePath) }
    /// The file exists but could not be read.
    public static var unreadable: Self { Self(value: .unreadable) }
    /// The file could not be created or written.
    public static var unwritable: Self { Self(value: .unwritable) }
    /// OpenSSL failed at something that should always work.
    public static var library: Self { Self(value: .library) }

    public var description: String { "\(self.value)" }
}

extension CodedError where Kind == CertificateErrorCode {
    /// For a call that fails only without memory, without randomness, or under a policy that forbids the algorithm.
    static func library(_ task: String) -> Self {
        let reasons = ErrorQueue.drain()
        let why = reasons.isEmpty ? "it gives no reason" : reasons.joined(separator: "; ")
        return Self(.library, "OpenSSL cannot \(task): \(why); run \"openssl version -a\" and check the configuration that it names")
    }
}

/// The error queue that OpenSSL keeps for each thread: cleared before a call that may fail, drained after it.
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue and returns its reasons, oldest first. OpenSSL keeps at most 16.
    static func drain() -> [String] {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            reasons.append(Self.text(code))
        }
        return reasons
    }

    private static func text(_ code: UInt) -> String {
        // System errors and reasons of other libraries have no text of their own.
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        var buffer = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &buffer, buffer.count)
        return buffer.withUnsafeBufferPointer { String(decoding: $0.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }
}
