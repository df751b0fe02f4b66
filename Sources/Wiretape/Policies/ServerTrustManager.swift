public import TapeBytes
public import Foundation
public import TapeTrust

extension HTTPSession {
    /// Trust policies by host.
    ///
    /// The first pattern that matches applies. Does not know what the platform can enforce: `ServerTrustRule` does.
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
        /// Whether a host that no pattern matches is refused; else the platform's own evaluation applies.
        public var allHostsMustBeEvaluated: Bool

        public init(rules: [Rule], allHostsMustBeEvaluated: Bool = true) {
            self.rules = rules
            self.allHostsMustBeEvaluated = allHostsMustBeEvaluated
        }

        /// - Parameter policies: keyed by host patterns such as `api.example.com`, `*.example.com`, `127.0.0.1:8443` and `*`; the first
        ///   match applies.
        public init(_ policies: KeyValuePairs<String, ServerTrust>, allHostsMustBeEvaluated: Bool = true) throws(SettingSyntaxError) {
            var rules: [Rule] = []
            for (pattern, trust) in policies { rules.append(Rule(hosts: try HostPattern(pattern), trust: trust)) }
            self.init(rules: rules, allHostsMustBeEvaluated: allHostsMustBeEvaluated)
        }

        /// Nil if no pattern matches.
        public func trust(forHost host: String, port: Int = 443) -> ServerTrust? {
            self.rules.first { $0.hosts.matches(host: host, port: port) }?.trust
        }
    }
}

/// Why a server is not trusted, or why that could not be evaluated.
///
/// The message says what is wrong with which host or file, and what to do next.
public typealias ServerTrustError = CodedError<HTTPSession.ServerTrustErrorCode>

extension HTTPSession {
    /// A kind of error; more kinds may be added.
    public struct ServerTrustErrorCode: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case untrusted, hostMismatch, pinMismatch, refusedByPolicy, noPolicy, unsupported, badCertificate }

        private var value: Value

        /// The chain does not end at a trusted authority, or one of its certificates is not valid now.
        public static var untrusted: Self { Self(value: .untrusted) }
        /// The certificate is for other hosts.
        public static var hostMismatch: Self { Self(value: .hostMismatch) }
        /// None of the certificates or keys is a pinned one.
        public static var pinMismatch: Self { Self(value: .pinMismatch) }
        /// The custom evaluation has refused the server.
        public static var refusedByPolicy: Self { Self(value: .refusedByPolicy) }
        /// All hosts must have a policy, and this host has none.
        public static var noPolicy: Self { Self(value: .noPolicy) }
        /// The platform cannot do what the policy asks for: nothing was sent.
        public static var unsupported: Self { Self(value: .unsupported) }
        /// A file does not contain a certificate.
        public static var badCertificate: Self { Self(value: .badCertificate) }

        public var description: String { "\(self.value)" }
    }

    /// Decides before a request is sent whether its host's policy is left to the platform, evaluated in the challenge, or refused.
    ///
    /// Reads no certificate. Never ignores a policy: if it cannot be enforced, nothing is sent.
    public struct ServerTrustRule: Sendable {
        /// Whether URLSession asks its delegate about certificates.
        public enum Platform: Sendable, Hashable, CaseIterable {
            /// Apple platforms: a challenge for each connection's certificates.
            case challenging
            /// Linux: no challenge; URLSession evaluates with the system's authorities.
            case silent

            public static var current: Platform {
                #if canImport(FoundationNetworking)
                .silent
                #else
                .challenging
                #endif
            }
        }

        /// How requests get to the host.
        public enum Route: Sendable, Hashable, CaseIterable {
            /// To the host, or through a proxy that only forwards bytes: the certificates are the host's own.
            case direct
            /// Through a proxy that intercepts TLS, such as Wiretape's, and has the same policies: the certificates seen here are the proxy's.
            case interceptingProxy
        }

        public enum Decision: Sendable {
            /// The platform's own evaluation applies, or there is no TLS.
            case leaveToPlatform
            /// In the challenge, by `ServerTrust`.
            case evaluate(ServerTrust)
            case refuse(ServerTrustError)
        }

        public var platform: Platform
        public var route: Route

        public init(platform: Platform = .current, route: Route = .direct) {
            self.platform = platform
            self.route = route
        }

        /// - Parameter manager: nil if there are no policies.
        public func decide(_ url: URL, by manager: ServerTrustManager?) -> Decision {
            guard let manager, url.scheme?.lowercased() == "https", let host = CookieRule.host(of: url) else { return .leaveToPlatform }
            guard let trust = manager.trust(forHost: host, port: url.port ?? 443) else {
                return manager.allHostsMustBeEvaluated ? .refuse(Self.noPolicy(host)) : .leaveToPlatform
            }
            switch (trust, self.route, self.platform) {
            case (.defaultEvaluation(validatesHost: true), _, _): return .leaveToPlatform
            case (_, .interceptingProxy, _): return .leaveToPlatform
            case (_, .direct, .challenging): return .evaluate(trust)
            case (_, .direct, .silent): return .refuse(Self.unsupported(trust, host: host))
            }
        }

        static func noPolicy(_ host: String) -> ServerTrustError {
            ServerTrustError(
                .noPolicy,
                "the ServerTrustManager has no policy for \"\(host)\": add one (\"*\" is for all other hosts), or set allHostsMustBeEvaluated to false"
            )
        }

        private static func unsupported(_ trust: ServerTrust, host: String) -> ServerTrustError {
            let (wanted, option): (String, String)
            switch trust {
            case .defaultEvaluation: (wanted, option) = ("accepts any name in its certificate", "--insecure-upstream \(host)")
            case .pinnedCertificates: (wanted, option) = ("pins its certificates", "--pin \(host)=CERTIFICATES.pem")
            case .pinnedPublicKeys(let keys, _, _):
                let pin = keys.lazy.compactMap { PublicKeyPin(digest: $0) }.first?.description ?? "sha256/DIGEST"
                (wanted, option) = ("pins its keys", "--pin \(host)=\(pin)")
            case .disabled: (wanted, option) = ("accepts any certificate", "--insecure-upstream \(host)")
            case .custom:
                return ServerTrustError(
                    .unsupported,
                    "the policy for \"\(host)\" is a function, but URLSession on Linux does not expose a server's certificates: use a TapeProxy server with that function in its TLSSettings.trust, and LiveTransport(serverTrust:route: .interceptingProxy)"
                )
            }
            return ServerTrustError(
                .unsupported,
                "the policy for \"\(host)\" \(wanted), but URLSession on Linux does not expose a server's certificates: use \"wiretape record \(option)\" (with --upstream-ca FILE for your own authority) and LiveTransport(serverTrust:route: .interceptingProxy)"
            )
        }
    }
}
