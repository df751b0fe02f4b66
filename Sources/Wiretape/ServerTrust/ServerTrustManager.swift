public import TapeTrust

/// Which policy counts for which host.
///
/// Of patterns that both fit, the one that was given first counts. Says what is wanted; `ServerTrustRule` says what the platform does of it.
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
    /// Whether a host that no pattern fits is refused; else it is evaluated as the platform does by itself.
    public var allHostsMustBeEvaluated: Bool

    public init(rules: [Rule], allHostsMustBeEvaluated: Bool = true) {
        self.rules = rules
        self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
    }

    /// - Parameter policies: by patterns of hosts, `api.example.com`, `*.example.com`, `127.0.0.1:8443`, `*`; the order counts.
    public init(_ policies: KeyValuePairs<String, ServerTrust>, allHostsMustBeEvaluated: Bool = true) throws(HostPatternError) {
        var rules: [Rule] = []
        for (pattern, trust) in policies { rules.append(Rule(hosts: try HostPattern(pattern), trust: trust)) }
        self.init(rules: rules, allHostsMustBeEvaluated: allHostsMustBeEvaluated)
    }

    /// Nil where no pattern fits.
    public func trust(forHost host: String, port: Int = 443) -> ServerTrust? {
        self.rules.first { $0.hosts.matches(host: host, port: port) }?.trust
    }
}
