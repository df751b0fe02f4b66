/// Why a server is not trusted, or why nobody could say.
public struct ServerTrustError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// Which host or file, what is wrong, and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case untrusted, hostMismatch, pinMismatch, refusedByPolicy, noPolicy, unsupported, badCertificate }

        private var value: Value

        /// The chain does not lead to a trusted authority, or a certificate of it is not valid now.
        public static var untrusted: Self { Self(value: .untrusted) }
        /// The certificate is for other hosts.
        public static var hostMismatch: Self { Self(value: .hostMismatch) }
        /// None of the certificates or keys is a pinned one.
        public static var pinMismatch: Self { Self(value: .pinMismatch) }
        /// The custom evaluation said no.
        public static var refusedByPolicy: Self { Self(value: .refusedByPolicy) }
        /// All hosts must have a policy, and this one has none.
        public static var noPolicy: Self { Self(value: .noPolicy) }
        /// The platform cannot do what the policy asks for: nothing was sent.
        public static var unsupported: Self { Self(value: .unsupported) }
        /// What should be a certificate is none.
        public static var badCertificate: Self { Self(value: .badCertificate) }

        public var description: String { "\(self.value)" }
    }
}
