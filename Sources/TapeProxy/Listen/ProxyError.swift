internal import NIOCore
internal import Platform
public import TapeBytes
internal import TapeTLS

/// Why a proxy could not start or continue.
///
/// Its message: what went wrong, with which address, and what to do next.
public typealias ProxyError = CodedError<ProxyErrorCode>

public struct ProxyErrorCode: Hashable, Sendable {
    private enum Value { case cannotListen, remoteNotAllowed, invalidCredentials, invalidAuthority, invalidEventLoops }
    private var value: Value
    public static var cannotListen: Self { Self(value: .cannotListen) }
    public static var remoteNotAllowed: Self { Self(value: .remoteNotAllowed) }
    /// The certificate authority cannot be used.
    public static var invalidAuthority: Self { Self(value: .invalidAuthority) }
    public static var invalidCredentials: Self { Self(value: .invalidCredentials) }
    /// The given event loops have no sockets, or there are none.
    public static var invalidEventLoops: Self { Self(value: .invalidEventLoops) }
}

extension CodedError where Kind == ProxyErrorCode {
    /// Why a server could not start.
    ///
    /// - Parameter option: the command-line option for the address.
    init(starting error: any Error, host: String, port: Int, option: String) {
        switch error {
        case let error as ProxyError: self = error
        case let error as CertificateError: self.init(.invalidAuthority, error.message, cause: error)
        default:
            self.init(
                .cannotListen,
                "cannot listen on \"\(host):\(port)\" (\(Self.reason(error))): is another program there? \(option) 127.0.0.1:0 takes a free port."
            )
        }
    }

    /// The system's words for an error of a socket. Those of NIO also name the function that failed.
    package static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return String(cString: strerror(error.errnoCode))
    }
}
