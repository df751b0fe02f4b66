public import TapeTrust

/// Trust policies by host.
///
/// The first pattern that matches counts. Does not know what the platform can carry out: `ServerTrustRule` does.
public struct ServerTrustManager: Sendable {
    /// A policy and the hosts it is for.
    public struct Rule: Sendable {
        public var hosts: HostPattern
        public var trust: ServerTrust

        public init(hosts: HostPattern, trust: ServerTrust) {
            self.hosts = hosts
            self.trust = trust
        }
    }

    public var rules: [Rule]
    /// Whether a host that no pattern matches is refused; else the platform's own evaluation counts.
    public var allHostsMustBeEvaluated: Bool

    public init(rules: [Rule], allHostsMustBeEvaluated: Bool = true) {
        self.rules = rules
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    }

    /// - Parameter policies: by host patterns such as `api.example.com`, `*.example.com`, `127.0.0.1:8443` and `*`; the order counts.
    public init(_ policies: KeyValuePairs<String, ServerTrust>, allHostsMustBeEvaluated: Bool = true) throws(HostPatternError) {
        var rules: [Rule] = []
        for (pattern, trust) in policies { rules.append(Rule(hosts: try HostPattern(pattern), trust: trust)) }
        self.init(rules: rules, allHostsMustBeEvaluated: allHostsMustBeEvaluated)
    }

    /// Nil if no pattern matches.
    public func trust(forHost host: String, port: Int = 443) -> ServerTrust? {
        self.rules.first { $0.hosts.matches(host: host, port: port) }?.trust
    }
}

/// Why a server is not trusted, or why that could not be evaluated.
public struct ServerTrustError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What is wrong with which host or file, and what to do next.
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

        /// The chain does not end at a trusted authority, or one of its certificates is not valid now.
        public static var untrusted: Self { Self(value: .untrusted) }
        /// The certificate is for other hosts.
        public static var hostMismatch: Self { Self(value: .hostMismatch) }
        /// None of the certificates or keys is a pinned one.
        public static var pinMismatch: Self { Self(value: .pinMismatch) }
        /// The custom evaluation has refused it.
        public static var refusedByPolicy: Self { Self(value: .refusedByPolicy) }
        /// All hosts must have a policy, and this host has none.
        public static var noPolicy: Self { Self(value: .noPolicy) }
        /// The platform cannot do what the policy asks for: nothing was sent.
        public static var unsupported: Self { Self(value: .unsupported) }
        /// A file or its content is no certificate.
        public static var badCertificate: Self { Self(value: .badCertificate) }

        public var description: String { "\(self.value)" }
    }
}
