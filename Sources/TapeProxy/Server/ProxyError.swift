/// Why a proxy could not start or go on.
public struct ProxyError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What went wrong, with which address, and what to do next.
    public var message: String

    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    public struct Code: Hashable, Sendable {
        private enum Value { case cannotListen, remoteNotAllowed, invalidCredentials, invalidAuthority }
        private var value: Value
        public static var cannotListen: Self { Self(value: .cannotListen) }
        public static var remoteNotAllowed: Self { Self(value: .remoteNotAllowed) }
        /// The certificate authority cannot be used.
        public static var invalidAuthority: Self { Self(value: .invalidAuthority) }
        public static var invalidCredentials: Self { Self(value: .invalidCredentials) }
    }
}
